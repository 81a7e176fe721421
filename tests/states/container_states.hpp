// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/key_table.hpp>
#include <handlepool/pool.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

/// Containers of handles in a state in which each of their members has another value than its default.
namespace handlepool::test {

using ship_pool = pool<int>;
using ship = ship_pool::handle_type;

/// What no small buffer holds, so that a sanitizer sees whoever uses one that has ended.
inline std::string long_text(int number) {
    return "number " + std::to_string(number) + ", and no small string";
}

/// Two pools of ships with the same slots, one of which holds in a container.
struct fleet {
    /// The number of a ship for which no index has a key.
    static constexpr int nameless = 5;

    /// Of the handles of two pools those are higher whose id is.
    explicit fleet(unsigned id = 1, unsigned id_of_others = 2)
        : ships({.name = "ships", .capacity = 100, .pool_id = id}),
          others({.name = "others", .capacity = 100, .pool_id = id_of_others}) {
        for (ship_pool* each : {&ships, &others}) {
            std::vector<ship>& handles = each == &ships ? alive : others_alive;
            const ship first = each->emplace(100);
            for (int i = 0; i != nameless + 1; ++i) {
                handles.push_back(each->emplace(i));
            }
            each->erase(first);
            each->compact();
            (each == &ships ? dead : others_dead) = first;
        }
    }

    ship_pool ships;
    ship_pool others;
    std::vector<ship> alive; // the ship of that number
    std::vector<ship> others_alive;
    ship dead;
    ship others_dead;
    key_table names;
};

/// Is it so in a container?
template <class Container>
struct named_state {
    /// Of a member, or behind a dot of a part of one.
    std::string member;
    bool (*is_set)(Container& container, fleet& in);
    /// What a container was made with, or was told, is still there when its members are gone.
    bool stays = false;
};

/// What the tests do with a container of this kind.
template <class Container>
struct states_of;

template <class Container>
bool has(const Container& container, ship each) {
    return container.contains(each);
}

// What is set in every kind: whatever is added to find that out is taken out again.

template <class Container>
bool has_members(Container& container, fleet&) {
    return container.size() != 0;
}
template <class Container>
bool is_attached(Container& container, fleet&) {
    return container.attached();
}
/// Does it know that an object is dead?
template <class Container>
bool asks_the_pool(Container& container, fleet& in) {
    return !states_of<Container>::add(container, in.dead, 100) || !container.erase(in.dead);
}
/// Does it know of which pool its members are?
template <class Container>
bool refuses_others(Container& container, fleet& in) {
    try {
        states_of<Container>::add(container, in.others_alive[0], 100);
        container.clear(); // or it would be of that pool
        return false;
    } catch (const std::invalid_argument&) {
        return true;
    }
}

/// The states of what each handle_container has, and those of what this kind has beside it.
template <class Container>
std::vector<named_state<Container>> states_of_members(std::vector<named_state<Container>> own) {
    own.insert(own.begin(), {{"members_", has_members<Container>},
                             {"link_", is_attached<Container>},
                             {"link_.pool_id_", refuses_others<Container>},
                             {"link_.state_", asks_the_pool<Container>}});
    return own;
}

/// Each member has another value than its default.
template <class Container>
Container full_container(fleet& in, const std::vector<ship>& with) {
    Container container = states_of<Container>::empty();
    states_of<Container>::attach(container, with == in.alive ? in.ships : in.others);
    states_of<Container>::fill(container, in, with);
    return container;
}

/// It is that of a pool, whose compactions it follows, wherever it was before.
template <class Container>
void expect_to_follow(Container& container, ship_pool& pool) {
    using states = states_of<Container>;
    ASSERT_TRUE(container.attached());
    const std::size_t before = container.size();
    const ship one = pool.emplace(20);
    const ship other = pool.emplace(21);
    pool.compact();
    EXPECT_EQ(has(container, one), states::is_told_of_births);
    EXPECT_EQ(states::add(container, one, 20), !states::is_told_of_births);
    EXPECT_TRUE(has(container, one));
    states::add(container, other, 21);
    EXPECT_EQ(container.size(), before + 2);
    pool.erase(one);
    pool.compact();
    EXPECT_FALSE(has(container, one));
    EXPECT_FALSE(states::add(container, one, 20)) << "it is known to be dead";
    EXPECT_TRUE(has(container, other));
    pool.erase(other);
    pool.compact();
    EXPECT_EQ(container.size(), before);
}

/// It has no member with another value than its default, unless that may stay, and can be used as one that is
/// new.
template <class Container>
void expect_new(Container& container, fleet& in, bool with_what_stays = false) {
    using states = states_of<Container>;
    EXPECT_FALSE(refuses_others(container, in)) << "of the pool whose it was";
    for (const auto& [member, is_set, stays] : states::members()) {
        EXPECT_TRUE((stays && with_what_stays) || !is_set(container, in)) << member;
        container.clear();
    }
    states::attach(container, in.others);
    expect_to_follow(container, in.others);
    const ship of_it = in.others_alive[1];
    EXPECT_TRUE(has(container, of_it) || states::add(container, of_it, 1));
    container.detach();
    container.clear();
    if constexpr (states::is_told_of_births) {
        container.clear_refused();
    }
}

/// Filled by full_container() in `in.ships`, and in use.
template <class Container>
void expect_full(Container& container, fleet& in) {
    states_of<Container>::expect_filled(container, in.alive);
    for (const auto& [member, is_set, stays] : states_of<Container>::members()) {
        EXPECT_TRUE(is_set(container, in)) << member;
    }
    expect_to_follow(container, in.ships);
    states_of<Container>::expect_filled(container, in.alive);
}

/// The same, and lets all of its members die.
template <class Container>
void expect_full_to_the_end(Container& container, fleet& in) {
    expect_full(container, in);
    in.ships.clear();
    in.ships.compact();
    EXPECT_TRUE(container.empty());
    expect_to_follow(container, in.ships);
}

} // namespace handlepool::test

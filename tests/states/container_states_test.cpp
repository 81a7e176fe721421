// SPDX-License-Identifier: MIT

// Containers of handles, each of whose members has another value than its default, are swapped, moved,
// copied, cleared, shrunk and attached again; and then used.

#include "container_kinds.hpp"
#include "members_of.hpp"

#include <handlepool/error.hpp>
#include <handlepool/exclusive_pool.hpp>

#include <gtest/gtest.h>
#include <support/threads/thread_team.hpp>

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

template <class Container>
class container_states : public testing::Test {
public:
    using states = states_of<Container>;

    static Container empty() { return states::empty(); }
    Container full() { return full_container<Container>(in, in.alive); }
    Container full_of_others() { return full_container<Container>(in, in.others_alive); }

    fleet in;
};

using container_types = testing::Types<handle_set<int>, handle_map<int, std::string>,
                                       handle_index<int, std::string>, hierarchy<int>, property_store<int>>;
TYPED_TEST_SUITE(container_states, container_types);

TYPED_TEST(container_states, list_each_member) {
    std::vector<std::string> listed;
    for (const auto& [member, is_set, stays] : states_of<TypeParam>::members()) {
        if (member.find('.') == std::string::npos) {
            listed.push_back(member);
        }
    }
    std::vector<std::string> declared;
    if constexpr (requires(const TypeParam& one) { one.handles(); }) {
        declared = members_of("handle_container.hpp", "handle_container");
    }
    for (const std::string& own : members_of(states_of<TypeParam>::header, states_of<TypeParam>::name)) {
        declared.push_back(own);
    }
    EXPECT_EQ(listed, declared)
        << "a member that is new needs a value other than its default in container_kinds.hpp";
}

TYPED_TEST(container_states, differ_in_each_member) {
    TypeParam full = this->full();
    TypeParam empty = this->empty();
    for (const auto& [member, is_set, stays] : states_of<TypeParam>::members()) {
        EXPECT_TRUE(is_set(full, this->in)) << member;
        EXPECT_FALSE(is_set(empty, this->in)) << member;
        empty.clear();
    }
    expect_full_to_the_end(full, this->in);
}

TYPED_TEST(container_states, swap_each_member) {
    TypeParam one = this->full();
    TypeParam other = this->empty();
    swap(one, other);
    expect_full(other, this->in);
    expect_new(one, this->in);
    one.swap(other);
    expect_full(one, this->in);
    expect_new(other, this->in);
    TypeParam& same = one;
    one.swap(same);
    expect_full_to_the_end(one, this->in);
}

TYPED_TEST(container_states, swap_what_is_full) {
    TypeParam one = this->full();
    TypeParam other = this->full_of_others();
    swap(one, other);
    expect_full(other, this->in);
    states_of<TypeParam>::expect_filled(one, this->in.others_alive);
    expect_to_follow(one, this->in.others);
    expect_full_to_the_end(other, this->in);
    states_of<TypeParam>::expect_filled(one, this->in.others_alive);
    this->in.others.clear();
    this->in.others.compact();
    EXPECT_TRUE(one.empty());
}

// Each keeps its own attachment.
TYPED_TEST(container_states, exchange_contents_and_follow_as_before) {
    for (const bool both_are_attached : {true, false}) {
        fleet in(3, 4);
        TypeParam one = full_container<TypeParam>(in, in.alive);
        TypeParam other = this->empty();
        if (both_are_attached) {
            states_of<TypeParam>::attach(other, in.ships);
        }
        TypeParam& same = one;
        one.swap_contents(same);
        one.swap_contents(other);
        EXPECT_TRUE(one.attached());
        EXPECT_EQ(other.attached(), both_are_attached);
        states_of<TypeParam>::expect_filled(other, in.alive);
        if (both_are_attached) {
            expect_to_follow(other, in.ships);
        }
        expect_to_follow(one, in.ships);
        states_of<TypeParam>::expect_filled(other, in.alive);
        in.ships.clear();
        in.ships.compact();
        EXPECT_TRUE(one.empty());
        EXPECT_EQ(other.empty(), both_are_attached);
    }
}

TYPED_TEST(container_states, move_each_member) {
    TypeParam one = this->full();
    TypeParam moved(std::move(one));
    expect_full(moved, this->in);
    if constexpr (!std::is_same_v<TypeParam, property_store<int>>) { // can only be assigned to
        expect_new(one, this->in, true);
    }
    one = std::move(moved);
    expect_full(one, this->in);
    TypeParam& same = one;
    one = std::move(same);
    expect_full_to_the_end(one, this->in);
}

TYPED_TEST(container_states, move_over_what_is_full) {
    TypeParam one = this->full_of_others();
    TypeParam next = this->full();
    one = std::move(next);
    if constexpr (!std::is_same_v<TypeParam, property_store<int>>) { // can only be assigned to
        expect_new(next, this->in, true);
    }
    expect_full(one, this->in);
    this->in.others.clear();
    this->in.others.compact();
    const ship born = this->in.others.emplace(7);
    this->in.others.compact();
    EXPECT_FALSE(one.contains(born)) << "of the pool before";
    expect_full_to_the_end(one, this->in);
}

TYPED_TEST(container_states, outlive_what_was_moved_from) {
    std::optional<TypeParam> one(this->full());
    TypeParam moved(std::move(*one));
    one.reset();
    expect_full_to_the_end(moved, this->in);
}

TYPED_TEST(container_states, copy_each_member_but_the_attachment) {
    if constexpr (std::is_copy_constructible_v<TypeParam>) {
        const TypeParam full = this->full();
        TypeParam copy(full);
        TypeParam assigned = this->full_of_others();
        assigned = full;
        for (TypeParam* each : {&copy, &assigned}) {
            EXPECT_FALSE(each->attached());
            const ship born = this->in.ships.emplace(30);
            EXPECT_TRUE(states_of<TypeParam>::add(*each, born, 30));
            this->in.ships.erase(born);
            this->in.ships.compact();
            EXPECT_TRUE(each->contains(born)) << "it is not attached";
            EXPECT_EQ(each->prune(this->in.ships), 1U);
            states_of<TypeParam>::attach(*each, this->in.ships);
            expect_full(*each, this->in);
        }
        TypeParam& same = copy;
        copy = same;
        EXPECT_FALSE(copy.attached());
        states_of<TypeParam>::expect_filled(copy, this->in.alive);
        states_of<TypeParam>::attach(copy, this->in.ships);
        expect_full_to_the_end(copy, this->in);
        EXPECT_TRUE(full.empty());
        EXPECT_TRUE(assigned.empty());
    }
}

TYPED_TEST(container_states, clear_and_go_on) {
    TypeParam one = this->full();
    one.clear();
    EXPECT_TRUE(one.empty());
    for (const ship each : this->in.alive) {
        EXPECT_FALSE(one.contains(each));
    }
    EXPECT_TRUE(refuses_others(one, this->in)) << "it is still attached";
    expect_to_follow(one, this->in.ships);
    one.detach();
    one.clear();
    EXPECT_FALSE(refuses_others(one, this->in));
    expect_new(one, this->in, true);
}

TYPED_TEST(container_states, shrink_and_go_on) {
    if constexpr (requires(TypeParam& one) { one.shrink_to_fit(); }) {
        TypeParam one = this->full();
        std::vector<ship> more;
        for (int i = 0; i != 80; ++i) {
            more.push_back(this->in.ships.emplace(100 + i));
            states_of<TypeParam>::add(one, more.back(), 100 + i);
        }
        this->in.ships.compact();
        this->in.ships.erase(more);
        this->in.ships.compact();
        const auto before = one.memory();
        one.shrink_to_fit();
        if constexpr (std::is_same_v<TypeParam, property_store<int>>) {
            EXPECT_LE(one.memory().resident, before.resident);
        } else {
            EXPECT_LT(one.memory(), before);
        }
        expect_full_to_the_end(one, this->in);
        one.shrink_to_fit();
        expect_to_follow(one, this->in.ships);
    }
}

TYPED_TEST(container_states, refuse_to_be_attached_and_go_on) {
    TypeParam one = this->full();
    EXPECT_THROW(states_of<TypeParam>::attach(one, this->in.others), std::invalid_argument)
        << "it has members of another pool";
    expect_full(one, this->in);
    for (ship_pool* each : {&this->in.ships, &this->in.others}) {
        if (each == &this->in.others) {
            one.clear();
        }
        {
            const auto guard = each->access();
            EXPECT_THROW(states_of<TypeParam>::attach(one, *each), compaction_conflict);
        }
        EXPECT_TRUE(one.attached());
        expect_to_follow(one, this->in.ships);
    }
    this->in.others.compact();
    EXPECT_TRUE(one.empty());
}

// What hooks of the pool before are left would be called for the same slots, with lower or higher handles.
TYPED_TEST(container_states, forget_the_pool_before) {
    for (const bool higher : {false, true}) {
        fleet ranked(higher ? 4 : 3, higher ? 3 : 4);
        auto one = full_container<TypeParam>(ranked, ranked.alive);
        one.clear();
        states_of<TypeParam>::attach(one, ranked.others);
        std::size_t members = 0;
        for (int i = 0; i != fleet::nameless; ++i) {
            const ship each = ranked.others_alive[static_cast<std::size_t>(i)];
            EXPECT_TRUE(has(one, each) || states_of<TypeParam>::add(one, each, 100 + i));
            members += has(one, each) ? 1U : 0U;
        }
        ranked.ships.clear();
        ranked.ships.compact();
        ranked.ships.emplace(7);
        ranked.ships.compact();
        EXPECT_EQ(one.size(), members);
        expect_to_follow(one, ranked.others);
        EXPECT_EQ(one.size(), members);
    }
}

TYPED_TEST(container_states, follow_the_pool_of_a_view_that_has_ended) {
    using view = decltype(this->in.ships.exclusive_access());
    alignas(view) std::array<std::byte, sizeof(view)> memory{};
    view* const alone = ::new (memory.data()) view(this->in.ships.exclusive_access());
    TypeParam container = this->empty();
    states_of<TypeParam>::attach(container, *alone);
    std::destroy_at(alone);
    memory.fill(std::byte{0x55}); // as whatever comes to lie there
    expect_to_follow(container, this->in.ships);
}

// An object whose handle was revoked stays a member under that one, unless the new one comes in its place.
TYPED_TEST(container_states, lose_objects_whose_handles_were_revoked) {
    using kind = states_of<TypeParam>;
    const std::function<void(ship_pool&, ship)> each_end[] = {
        [](ship_pool& ships, ship which) { ships.erase(which); },
        [](ship_pool& ships, ship which) { ships.extract(which, [](int&&) {}); },
        [](ship_pool& ships, ship) { erase_if(ships, [](int number) { return number == 20; }); },
        [](ship_pool& ships, ship) { ships.drain([](ship, int&&) {}); },
        [](ship_pool& ships, ship) { ships.clear(); },
        [](ship_pool& ships, ship) { ships.reset(); },
    };
    for (const bool newborn : {false, true}) {
        for (const bool replaced : {false, true}) {
            for (const auto& end : each_end) {
                ship_pool ships({.name = "ships", .capacity = 10});
                TypeParam one = this->empty();
                kind::attach(one, ships);
                const ship before = ships.emplace(20);
                const ship other = ships.emplace(21);
                if (!newborn) {
                    ships.compact();
                }
                EXPECT_TRUE(has(one, before) || kind::add(one, before, 20));
                EXPECT_TRUE(has(one, other) || kind::add(one, other, 21));
                const ship after = ships.revoke(before);
                EXPECT_TRUE(has(one, before));
                EXPECT_FALSE(has(one, after));
                if (replaced) {
                    EXPECT_TRUE(kind::add(one, after, 20));
                    EXPECT_FALSE(has(one, before));
                    EXPECT_TRUE(has(one, after));
                }
                EXPECT_EQ(one.size(), 2U);
                end(ships, after);
                ships.compact();
                EXPECT_FALSE(has(one, before));
                EXPECT_FALSE(has(one, after));
                EXPECT_EQ(has(one, other), ships.contains(other));
                EXPECT_EQ(one.size(), ships.size());
            }
        }
    }
}

TYPED_TEST(container_states, outlive_their_pool) {
    std::optional<fleet> before;
    before.emplace(5, 6);
    auto one = full_container<TypeParam>(*before, before->alive);
    auto other = full_container<TypeParam>(*before, before->others_alive);
    swap(one, other);
    const ship gone = before->alive[0];
    before.reset();
    for (TypeParam* each : {&one, &other}) {
        EXPECT_FALSE(each->attached());
        EXPECT_TRUE(each->empty()) << "the pool's end destroys all";
        EXPECT_FALSE(each->contains(gone));
        each->clear();
        states_of<TypeParam>::attach(*each, this->in.ships);
        if constexpr (std::is_same_v<TypeParam, property_store<int>>) {
            each->set_names(this->in.names); // the table before has ended
        }
        expect_to_follow(*each, this->in.ships);
    }
}

// Two threads have a pool and a container each, which were exchanged before.
TYPED_TEST(container_states, follow_their_pools_in_two_threads) {
    TypeParam of_ships = this->full();
    TypeParam of_others = this->full_of_others();
    swap(of_ships, of_others);
    support::thread_team team(2);
    team.run([&](std::size_t thread) {
        team.meet();
        for (int i = 0; i != 50; ++i) {
            expect_to_follow(thread == 0 ? of_others : of_ships,
                             thread == 0 ? this->in.ships : this->in.others);
        }
    });
    states_of<TypeParam>::expect_filled(of_ships, this->in.others_alive);
    expect_full_to_the_end(of_others, this->in);
}

TYPED_TEST(container_states, are_read_by_two_threads) {
    TypeParam moved = this->full();
    const TypeParam one = std::move(moved);
    support::thread_team team(2);
    team.run([&](std::size_t) {
        team.meet();
        states_of<TypeParam>::expect_filled(one, this->in.alive);
        EXPECT_FALSE(one.contains(this->in.dead));
    });
}

} // namespace
} // namespace handlepool::test

// SPDX-License-Identifier: MIT
#pragma once

#include "checks_of_containers.hpp"
#include "operations_on_members.hpp"

#include <handlepool/property_bag.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <sstream>
#include <string>
#include <variant>
#include <vector>

/// What is done to the properties of objects.
namespace handlepool::test {

inline constexpr std::uint64_t path_count = 9;

/// Of any kind; some strings and arrays need another block.
inline property_truth any_property(random_source& random) {
    switch (random.below(4)) {
    case 0:
        return random.one_in(2);
    case 1:
        return static_cast<float>(random.below(1000));
    case 2:
        return std::string(random.below(40), static_cast<char>('a' + random.below(26)));
    default:
        return std::vector<float>(random.below(20), static_cast<float>(random.below(100)));
    }
}
inline bag_truth any_bag(random_source& random) {
    bag_truth made;
    for (std::uint64_t i = 0, count = random.below(path_count); i != count; ++i) {
        made[random.below(path_count)] = any_property(random);
    }
    return made;
}

/// The object's bag changes so, and is made if there was none; then that of an earlier object of its slot
/// ends. Where a later one has a bag, nothing is done.
template <class Kind, class Change>
void expect_bag(game<Kind>& in, typename game<Kind>::handle_type handle, bool is_done, Change change) {
    auto& bags = in.truth.members.bags;
    EXPECT_EQ(is_done, bags.contains(handle) || in.truth.members.admits(bags, handle)) << in.name(handle);
    if (!is_done) {
        return;
    }
    if (!bags.contains(handle)) {
        in.truth.members.take(bags, handle);
    }
    change(bags[handle]);
}

template <class Kind>
void set_property(game<Kind>& in, typename game<Kind>::handle_type handle) {
    const std::uint64_t number = in.random.below(path_count);
    const property_truth value = any_property(in.random);
    const property_path path = in.path_of(number);
    in.tell("set property " + std::to_string(number) + " of " + in.name(handle));
    const bool is_done = std::visit(
        [&](const auto& each) {
            return in.random.one_in(2) ? in.bags.set(in.with_any_user(handle), path, each)
                                       : in.bags.try_set(in.with_any_user(handle), path, each);
        },
        value);
    expect_bag(in, handle, is_done, [&](bag_truth& bag) { bag[number] = value; });
}

/// As a whole, or by the change that makes another of it.
template <class Kind>
void replace_bag(game<Kind>& in, typename game<Kind>::handle_type handle) {
    const bag_truth wanted = any_bag(in.random);
    const property_bag other = make_bag(in, wanted);
    in.tell("replace the bag of " + in.name(handle));
    bool is_done = false;
    if (in.random.one_in(2)) {
        is_done = in.bags.assign(in.with_any_user(handle), other);
    } else {
        const property_bag change = diff(in.bags.view(in.with_any_user(handle)), other);
        is_done = in.bags.merge(in.with_any_user(handle), change);
    }
    expect_bag(in, handle, is_done, [&](bag_truth& bag) { bag = wanted; });
}

template <class Kind>
void merge_bag(game<Kind>& in, typename game<Kind>::handle_type handle) {
    const bag_truth later = any_bag(in.random);
    in.tell("merge into the bag of " + in.name(handle));
    const bool is_done = in.bags.merge(in.with_any_user(handle), make_bag(in, later));
    expect_bag(in, handle, is_done, [&](bag_truth& bag) {
        for (const auto& [number, value] : later) {
            bag[number] = value;
        }
    });
}

template <class Kind>
void erase_property(game<Kind>& in, typename game<Kind>::handle_type handle) {
    const std::uint64_t number = in.random.below(path_count);
    in.tell("erase property " + std::to_string(number) + " of " + in.name(handle));
    const auto found = in.truth.members.bags.find(handle);
    const bool has_one = found != in.truth.members.bags.end() && found->second.erase(number) == 1;
    EXPECT_EQ(in.bags.erase_property(in.with_any_user(handle), in.path_of(number)), has_one);
}

/// An attached store gives none to the dead.
template <class Kind>
void give_bag_to_stale(game<Kind>& in) {
    const auto handle = in.any_handle();
    if (in.truth.members.attached.bags && in.truth.pool.state(handle) == handle_state::stale && handle) {
        EXPECT_FALSE(in.bags.set(in.with_any_user(handle), in.path_of(0), 1));
    }
}

/// What is written to a file is read by another store, which is not attached.
template <class Kind>
void copy_bags(game<Kind>& in) {
    in.tell("copy bags");
    std::ostringstream file;
    in.bags.write(file, names_in_file::included);
    const std::string bytes = file.str();
    key_table names;
    typename game<Kind>::store_type read({.slot_limit = 60'000, .bytes = std::size_t{1} << 24});
    read.set_names(names);
    EXPECT_EQ(read.read(std::as_bytes(std::span(bytes))), in.truth.members.bags.size());
    EXPECT_FALSE(read.attached());
    in.bags.for_each([&](auto handle, property_view bag) {
        EXPECT_EQ(read.view(handle), bag);
        EXPECT_EQ(describe(read.view(handle)), describe(bag)) << "with the names of their paths";
    });
    read.assign(in.bags);
    EXPECT_EQ(read.size(), in.bags.size());
    const auto is_alive = [&](const auto& each) { return in.truth.pool.living.contains(each.first); };
    if (std::ranges::all_of(in.truth.members.bags, is_alive)) { // what is attached may get no others
        in.bags.swap_contents(read);
    }
}

template <class Kind>
void change_bags(game<Kind>& in) {
    const auto handle = in.any_living();
    if (!handle) {
        return;
    }
    switch (in.random.below(24)) {
    case 0:
    case 1:
    case 2:
        return replace_bag(in, handle);
    case 3:
    case 4:
        return merge_bag(in, handle);
    case 5:
    case 6:
    case 7:
    case 8:
        return erase_property(in, handle);
    case 9:
    case 10:
        in.tell("erase the bag of " + in.name(handle));
        EXPECT_EQ(in.bags.erase(in.with_any_user(handle)), in.truth.members.bags.erase(handle) == 1);
        return;
    case 11:
        return give_bag_to_stale(in);
    case 12:
        return in.random.one_in(4) ? copy_bags(in) : set_property(in, handle);
    default:
        return set_property(in, handle);
    }
}

template <class Kind>
void change_members(game<Kind>& in) {
    switch (in.random.below(20)) {
    case 0:
    case 1:
    case 2:
        return change_set(in);
    case 3:
    case 4:
    case 5:
        return change_map(in);
    case 6:
    case 7:
        return change_index(in);
    case 8:
    case 9:
    case 10:
    case 11:
        return change_family(in);
    case 12:
        return in.random.one_in(2) ? erase_subtree(in) : change_family(in);
    case 13:
        return in.random.one_in(3) ? prune_all(in) : change_map(in);
    case 14:
        return in.random.one_in(2) ? detach_or_attach(in) : change_set(in);
    case 15:
        return move_containers(in);
    default:
        return change_bags(in);
    }
}

} // namespace handlepool::test

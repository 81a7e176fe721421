// SPDX-License-Identifier: MIT
#pragma once

#include "game.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <string>

/// What is done to the properties of objects.
namespace handlepool::test {

template <class Kind>
void change_bags(game<Kind>& in) {
    auto& bags = in.truth.members.bags;
    const auto handle = in.any_living();
    if (!handle) {
        return;
    }
    const std::size_t which = in.random.below(bag_paths.size());
    const property_path path = bag_paths[which];
    const auto found = bags.find(handle);
    const bool has_bag = found != bags.end();
    const bool may_have = has_bag || in.truth.members.admits(bags, handle);
    const auto give_bag = [&]() -> auto& {
        if (!has_bag) {
            in.truth.members.take(bags, handle);
        }
        return bags[handle];
    };
    in.tell("bag of " + in.name(handle) + ", property " + std::to_string(which));
    switch (in.random.below(6)) {
    case 0:
        EXPECT_EQ(in.bags.erase(in.marked(handle)), has_bag);
        bags.erase(handle);
        break;
    case 1:
        EXPECT_EQ(in.bags.erase_property(in.marked(handle), path),
                  has_bag && found->second.erase(which) == 1);
        break;
    case 2: {
        const auto other = in.any_living(); // the same, perhaps
        const auto theirs = bags.contains(other) ? bags.at(other) : decltype(found->second)();
        EXPECT_EQ(in.bags.assign(in.marked(handle), in.bags.view(in.marked(other))), may_have);
        if (may_have) {
            give_bag() = theirs;
        }
        break;
    }
    case 3: {
        const auto other = in.any_living();
        const auto theirs = bags.contains(other) ? bags.at(other) : decltype(found->second)();
        EXPECT_EQ(in.bags.merge(in.marked(handle), in.bags.view(in.marked(other))), may_have);
        if (may_have) {
            auto& mine = give_bag();
            for (const auto& [number, value] : theirs) {
                mine[number] = value;
            }
        }
        break;
    }
    default:
        const auto value = static_cast<float>(in.random.below(1000));
        EXPECT_EQ(in.bags.set(in.marked(handle), path, value), may_have);
        if (may_have) {
            give_bag()[which] = value;
        }
    }
}

} // namespace handlepool::test

// SPDX-License-Identifier: MIT
#pragma once

#include "game.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <variant>
#include <vector>

/// All that can be seen of the containers, compared with what is true.
namespace handlepool::test {

template <class Handle>
std::set<Handle> set_of(std::span<const Handle> handles) {
    return {handles.begin(), handles.end()};
}

/// The properties as a bag of its own.
template <class Kind>
property_bag make_bag(game<Kind>& in, const bag_truth& of) {
    property_bag made(in.names);
    for (const auto& [number, value] : of) {
        std::visit([&](const auto& each) { made.set(in.path_of(number), each); }, value);
    }
    return made;
}
template <class Kind>
void check_bags(game<Kind>& in) {
    const auto& bags = in.truth.members.bags;
    ASSERT_EQ(in.bags.size(), bags.size());
    for (const auto& [handle, bag] : bags) {
        ASSERT_TRUE(in.bags.contains(in.with_any_user(handle))) << in.name(handle);
        ASSERT_EQ(in.bags.view(in.with_any_user(handle)), make_bag(in, bag)) << in.name(handle);
    }
    in.bags.for_each(
        [&](auto handle, property_view) { EXPECT_TRUE(bags.contains(handle)) << in.name(handle); });
}

template <class Kind>
void check_containers(game<Kind>& in) {
    using handle_type = typename game<Kind>::handle_type;
    const members_truth<handle_type>& members = in.truth.members;
    EXPECT_EQ(in.set.attached(), members.attached.set);
    EXPECT_EQ(in.map.attached(), members.attached.map);
    EXPECT_EQ(in.index.attached(), members.attached.index);
    EXPECT_EQ(in.family.attached(), members.attached.family);
    EXPECT_EQ(in.bags.attached(), members.attached.bags);

    EXPECT_EQ(in.set.size(), members.set.size());
    EXPECT_EQ(set_of(in.set.handles()), members.set);

    ASSERT_EQ(in.map.size(), members.map.size());
    for (const auto& [handle, value] : members.map) {
        ASSERT_TRUE(in.map.contains(in.with_any_user(handle))) << in.name(handle);
        ASSERT_EQ(in.map.at(in.with_any_user(handle)), value) << in.name(handle);
    }

    ASSERT_EQ(in.index.size(), members.index.size());
    for (const auto& [handle, given] : members.index) {
        ASSERT_NE(in.index.key_of(in.with_any_user(handle)), nullptr) << in.name(handle);
        ASSERT_EQ(*in.index.key_of(in.with_any_user(handle)), given.key) << in.name(handle);
    }
    for (std::uint64_t key = 0; key != 18; ++key) {
        const auto found = in.index.find_all(key);
        ASSERT_EQ(std::vector<handle_type>(found.begin(), found.end()), members.with_key(key)) << key;
    }
    EXPECT_TRUE(in.index.refused().empty());

    ASSERT_EQ(in.family.size(), members.family.size());
    std::map<handle_type, std::set<handle_type>> children;
    for (const auto& [handle, parent] : members.family) {
        ASSERT_TRUE(in.family.contains(in.with_any_user(handle))) << in.name(handle);
        ASSERT_EQ(in.family.parent(in.with_any_user(handle)), parent) << in.name(handle);
        children[parent].insert(handle);
    }
    for (const auto& [handle, parent] : members.family) {
        ASSERT_EQ(set_of(in.family.children(in.with_any_user(handle))), children[handle]) << in.name(handle);
    }
    EXPECT_EQ(set_of(in.family.roots()), children[{}]);
    check_bags(in);
}

/// All that the containers have, in their order.
template <class Kind>
std::string text_of_containers(game<Kind>& in) {
    using handle_type = typename game<Kind>::handle_type;
    std::string text = "set";
    for (const handle_type each : in.set) {
        text += ' ' + in.name(each);
    }
    text += "\nmap";
    in.map.for_each([&](handle_type each, std::uint64_t value) {
        text += ' ' + in.name(each) + '=' + std::to_string(value);
    });
    text += "\nindex";
    for (const handle_type each : in.index.handles()) {
        text += ' ' + in.name(each) + '=' + std::to_string(*in.index.key_of(each));
    }
    for (std::uint64_t key = 0; key != 18; ++key) {
        text += "\n" + std::to_string(key);
        for (const handle_type each : in.index.find_all(key)) {
            text += ' ' + in.name(each);
        }
    }
    text += "\nfamily";
    for (const handle_type each : in.family.handles()) {
        text += ' ' + in.name(each) + " above";
        for (const handle_type child : in.family.children(each)) {
            text += ' ' + in.name(child);
        }
    }
    for (const handle_type each : in.family.roots()) {
        text += " root " + in.name(each);
    }
    text += "\nbags";
    in.bags.for_each([&](handle_type each, property_view properties) {
        text += ' ' + in.name(each) + " has " + describe(properties);
    });
    return text;
}

} // namespace handlepool::test

// SPDX-License-Identifier: MIT

// A later handle takes the place of a stale member; with user bits, which members don't have.

#include <handlepool/handle_index.hpp>
#include <handlepool/handle_map.hpp>
#include <handlepool/handle_set.hpp>
#include <handlepool/hierarchy.hpp>
#include <handlepool/pool.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tests/support/made_up.hpp>

#include <cstdint>
#include <optional>

namespace handlepool::test {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

using bits_layout = handle_layout<24, 20, 9, 11>;
using bits_handle = handle<int, bits_layout>;

bits_handle with_bits(std::uint64_t index, std::uint32_t generation, std::uint64_t bits) {
    return made_up<bits_handle>(index, generation).with_user(bits);
}

/// Each: the stale member, with bits; what replaces it, with others; that as a member.
const auto stale = with_bits(5, 1, 9);
const auto later = with_bits(5, 3, 2047);
const auto member = with_bits(5, 3, 0);

/// Is the later handle found with any bits, and the stale one with none?
template <class Container>
void expect_replaced(const Container& container) {
    EXPECT_EQ(container.size(), 1U);
    EXPECT_THAT(container.handles(), ElementsAre(member)) << "without bits";
    for (const std::uint64_t bits : {std::uint64_t{0}, std::uint64_t{9}, std::uint64_t{2047}}) {
        EXPECT_TRUE(container.contains(member.with_user(bits)));
        EXPECT_FALSE(container.contains(stale.with_user(bits)));
    }
}

// Two that are attached to one pool, and have each other's members from here on.
TEST(exchanged_members, are_removed_where_they_are) {
    pool<int> objects({.name = "objects", .capacity = 100});
    const auto first = objects.emplace(1);
    const auto second = objects.emplace(2);
    for (const bool is_one_attached : {false, true}) {
        std::optional<handle_set<int>> one(std::in_place);
        handle_set<int> other;
        if (is_one_attached) {
            one->attach(objects);
        }
        other.attach(objects);
        one->insert(first);
        other.insert(second);
        one->swap_contents(other);
        EXPECT_TRUE(one->contains(second));
        EXPECT_TRUE(other.contains(first));
        EXPECT_EQ(one->attached(), is_one_attached);
        EXPECT_TRUE(other.attached());
        const auto third = objects.emplace(3);
        const auto fourth = objects.emplace(4);
        one->insert(third);
        other.insert(fourth);
        objects.erase(third);
        objects.erase(fourth);
        objects.compact();
        EXPECT_EQ(one->size(), is_one_attached ? 1U : 2U);
        EXPECT_EQ(other.size(), 1U);
        one.reset();
        const auto fifth = objects.emplace(5);
        other.insert(fifth);
        objects.erase(fifth);
        objects.compact();
        EXPECT_EQ(other.size(), 1U);
    }
}

TEST(replaced_members, of_a_set_have_no_bits) {
    handle_set<int, bits_layout> set;
    EXPECT_TRUE(set.insert(stale));
    EXPECT_TRUE(set.insert(later));
    EXPECT_FALSE(set.insert(member.with_user(1))) << "the same object";
    EXPECT_FALSE(set.insert(stale));
    expect_replaced(set);
    EXPECT_TRUE(set.erase(later));
    EXPECT_TRUE(set.empty());
}

TEST(replaced_members, of_a_map_have_no_bits) {
    handle_map<int, int, bits_layout> map;
    EXPECT_TRUE(map.try_emplace(stale, 1).inserted);
    EXPECT_TRUE(map.try_emplace(later, 2).inserted);
    EXPECT_FALSE(map.try_emplace(member.with_user(1), 3).inserted);
    EXPECT_FALSE(map.insert_or_assign(member.with_user(2), 4).inserted);
    EXPECT_EQ(map.try_emplace(stale, 5).value, nullptr);
    expect_replaced(map);
    EXPECT_EQ(map.at(member), 4);
    map.for_each([](bits_handle each, int) { EXPECT_EQ(each, member); });

    handle_map<int, int, bits_layout> assigned;
    assigned.insert_or_assign(stale, 1);
    EXPECT_TRUE(assigned.insert_or_assign(later, 2).inserted);
    expect_replaced(assigned);
}

TEST(replaced_members, of_an_index_have_no_bits) {
    for (const duplicate_keys duplicates : {duplicate_keys::refuse, duplicate_keys::allow}) {
        handle_index<int, int, bits_layout> index(duplicates);
        EXPECT_TRUE(index.insert(stale, 1));
        EXPECT_TRUE(index.insert(later, 1)) << "the key of the stale one is free";
        expect_replaced(index);
        EXPECT_EQ(index.find(1), member);
        EXPECT_EQ(*index.find_all(1).begin(), member);
        EXPECT_TRUE(index.rekey(later, 2));
        EXPECT_EQ(index.find(2), member);
        EXPECT_EQ(*index.key_of(later), 2);
    }
}

TEST(replaced_members, of_a_hierarchy_have_no_bits) {
    const auto other = with_bits(6, 1, 7);
    hierarchy<int, bits_layout> tree;
    tree.set_parent(other, stale);
    EXPECT_TRUE(tree.insert(later));
    EXPECT_THAT(tree.handles(), UnorderedElementsAre(member, other.without_user()));
    EXPECT_THAT(tree.roots(), UnorderedElementsAre(member, other.without_user())) << "without bits";
    EXPECT_FALSE(tree.contains(stale));
    tree.set_parent(later, other);
    EXPECT_THAT(tree.children(other), ElementsAre(member));
    EXPECT_EQ(tree.parent(later), other.without_user());
    EXPECT_THAT(tree.breadth_first(other), ElementsAre(other.without_user(), member));
    EXPECT_EQ(tree.root_of(later), other.without_user());
}

/// Whatever bits the handles have: then nothing changes, not even the order among siblings.
TEST(replaced_members, of_a_hierarchy_have_the_parent_that_they_had) {
    const auto top = with_bits(1, 1, 5);
    const auto first = with_bits(2, 1, 6);
    const auto second = with_bits(3, 1, 7);
    hierarchy<int, bits_layout> tree;
    tree.set_parent(first, top);
    tree.set_parent(second, top);
    for (const std::uint64_t bits : {std::uint64_t{0}, std::uint64_t{5}, std::uint64_t{2047}}) {
        tree.set_parent(first.with_user(bits), top.with_user(bits ^ 1));
        EXPECT_THAT(tree.children(top), ElementsAre(first.without_user(), second.without_user()));
        EXPECT_EQ(tree.place(second), 1U);
    }
}

} // namespace
} // namespace handlepool::test

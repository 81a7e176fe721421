// SPDX-License-Identifier: MIT
#include "collisions.hpp"

#include <handlepool/property_bag.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tests/support/random.hpp>

#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <string_view>

namespace handlepool::test {
namespace {

using namespace handlepool::property_literals;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

property_bag bag_of(std::initializer_list<std::pair<property_path, float>> numbers) {
    property_bag bag;
    for (const auto& [path, number] : numbers) {
        bag.set(path, number);
    }
    return bag;
}

/// Up to ten of twenty paths, with values of all kinds.
property_bag random_bag(random_source& random) {
    property_bag bag;
    for (std::size_t left = random.below(11); left != 0; --left) {
        const property_path path("path " + std::to_string(random.below(20)));
        switch (random.below(4)) {
        case 0:
            bag.set(path, random.one_in(2));
            break;
        case 1:
            bag.set(path, random.below(3));
            break;
        case 2:
            bag.set(path, std::string(random.below(10), 'x'));
            break;
        default:
            bag.set(path, std::vector<float>(random.below(4), 1.0F));
        }
    }
    return bag;
}

TEST(property_merge_test, the_later_bag_wins) {
    property_bag bag = bag_of({{"a"_key, 1.0F}, {"b"_key, 2.0F}});
    bag.merge(bag_of({{"b"_key, 3.0F}, {"c"_key, 4.0F}}));
    EXPECT_EQ(bag, bag_of({{"a"_key, 1.0F}, {"b"_key, 3.0F}, {"c"_key, 4.0F}}));
}

TEST(property_merge_test, strings_and_arrays_are_single_values) {
    property_bag bag;
    bag.set("text"_key, "a long string");
    bag.set("array"_key, {1.0F, 2.0F, 3.0F});
    property_bag later;
    later.set("text"_key, "short");
    later.set("array"_key, {9.0F});
    bag.merge(later);
    EXPECT_EQ(bag.at<std::string_view>("text"_key), "short");
    EXPECT_THAT(bag.at<std::span<const float>>("array"_key), ElementsAre(9.0F));
}

TEST(property_merge_test, with_nothing_and_with_itself_a_bag_stays) {
    const property_bag before = bag_of({{"a"_key, 1.0F}, {"b"_key, 2.0F}});
    property_bag bag = before;
    bag.merge(property_bag());
    EXPECT_EQ(bag, before);
    bag.merge(bag);
    EXPECT_EQ(bag, before);
    property_bag nothing;
    nothing.merge(before);
    EXPECT_EQ(nothing, before);
    nothing = property_bag();
    nothing.merge(nothing);
    EXPECT_TRUE(nothing.empty());
}

TEST(property_merge_test, a_removal_removes) {
    property_bag bag = bag_of({{"a"_key, 1.0F}, {"b"_key, 2.0F}});
    property_bag change;
    change.set_removed("a"_key);
    change.set_removed("not there"_key);
    EXPECT_TRUE(change.contains("a"_key));
    EXPECT_EQ(change.kind("a"_key), property_kind::removed);
    EXPECT_EQ(change.get<float>("a"_key), std::nullopt);
    bag.merge(change);
    EXPECT_EQ(bag, bag_of({{"b"_key, 2.0F}}));
    bag.merge([] {
        property_bag rest;
        rest.set_removed("b"_key);
        return rest;
    }());
    EXPECT_TRUE(bag.empty());
}

TEST(property_merge_test, removals_that_the_bag_itself_has_are_applied_too) {
    property_bag bag;
    bag.set_removed("gone"_key);
    property_bag later;
    later.set("new"_key, 1);
    bag.merge(later, removals::apply);
    EXPECT_EQ(bag, later);
    EXPECT_EQ(bag.size(), 1U);
}

TEST(property_merge_test, two_changes_become_one) {
    random_source random;
    for (int round = 0; round != 300; ++round) {
        const property_bag first = random_bag(random);
        const property_bag second = random_bag(random);
        const property_bag third = random_bag(random);
        property_bag change = diff(first, second);
        change.merge(diff(second, third), removals::keep);
        property_bag merged = first;
        merged.merge(change);
        ASSERT_EQ(merged, third);
    }
}

TEST(property_diff_test, has_what_is_new_or_other_and_removals_of_what_is_gone) {
    const property_bag before = bag_of({{"same"_key, 1.0F}, {"other"_key, 2.0F}, {"gone"_key, 3.0F}});
    const property_bag after = bag_of({{"same"_key, 1.0F}, {"other"_key, 5.0F}, {"new"_key, 6.0F}});
    property_bag expected = bag_of({{"other"_key, 5.0F}, {"new"_key, 6.0F}});
    expected.set_removed("gone"_key);
    EXPECT_EQ(diff(before, after), expected);
    EXPECT_TRUE(diff(before, before).empty());
    EXPECT_EQ(diff(property_bag(), after), after);
    EXPECT_TRUE(diff(property_bag(), property_bag()).empty());
}

TEST(property_diff_test, merged_into_the_one_it_makes_the_other) {
    random_source random;
    for (int round = 0; round != 1000; ++round) {
        const property_bag before = random_bag(random);
        const property_bag after = random_bag(random);
        property_bag merged = before;
        merged.merge(diff(before, after));
        ASSERT_EQ(merged, after);
    }
}

TEST(property_diff_test, compares_numbers_bit_by_bit) {
    const float none = std::numeric_limits<float>::quiet_NaN();
    EXPECT_TRUE(diff(bag_of({{"a"_key, none}}), bag_of({{"a"_key, none}})).empty());
    EXPECT_EQ(diff(bag_of({{"a"_key, 0.0F}}), bag_of({{"a"_key, -0.0F}})).size(), 1U);
}

TEST(property_diff_test, a_removal_counts_as_nothing) {
    property_bag before = bag_of({{"a"_key, 1.0F}});
    before.set_removed("b"_key);
    property_bag after = bag_of({{"b"_key, 1.0F}});
    after.set_removed("a"_key);
    property_bag expected = bag_of({{"b"_key, 1.0F}});
    expected.set_removed("a"_key);
    EXPECT_EQ(diff(before, after), expected);
    before.merge(diff(before, after));
    EXPECT_EQ(before, bag_of({{"b"_key, 1.0F}})) << "as after, but for its removals";
}

TEST(property_merge_test, what_has_no_room_changes_nothing) {
    key_table names;
    names.add({"text b"});
    property_bag bag(names);
    bag.set("text a"_key, std::string(40'000, 'a'));
    property_bag later;
    later.set("text b"_key, std::string(40'000, 'b'));
    const property_bag before = bag;
    EXPECT_THAT(
        [&] { bag.merge(later); },
        ThrowsMessage<bag_too_large>(
            AllOf(HasSubstr("the bag would need 80028 bytes, and may have 65536"), HasSubstr("property "))));
    EXPECT_EQ(bag, before);
    EXPECT_EQ(bag.names(), &names);
}

TEST(property_merge_test, paths_of_two_tables_that_collide_are_refused) {
    key_table one_names;
    key_table other_names;
    property_bag one(one_names);
    property_bag other(other_names);
    one.set(property_path(colliding_keys[0]), 1);
    other.set(property_path(colliding_keys[1]), 2);
    EXPECT_THROW(one.merge(other), path_collision);
    EXPECT_EQ(one.at<float>(property_path(colliding_keys[0])), 1.0F);
}

TEST(property_merge_test, paths_that_nobody_names_are_known_to_the_table_all_the_same) {
    key_table one_names;
    key_table other_names;
    property_bag one(one_names);
    property_bag other(other_names);
    other.set(property_path(colliding_keys[0]), 1);
    one.merge(other);
    EXPECT_EQ(one_names.size(), 1U);
    EXPECT_THROW(one.set(property_path(colliding_keys[1]), 2), path_collision);
    key_table third_names;
    property_bag third(third_names);
    third = other;
    EXPECT_EQ(third.at<float>(property_path(colliding_keys[0])), 1.0F);
}

TEST(property_merge_test, paths_that_the_other_table_names_get_their_names_here) {
    key_table one_names;
    key_table other_names;
    property_bag one(one_names);
    property_bag other(other_names);
    other.set(other_names.add({"stats", "health"}), 2);
    other.set("not named"_key, 3);
    one.merge(other);
    EXPECT_THAT(one_names.keys_of("stats"_key / "health"), ElementsAre("stats", "health"));
    EXPECT_EQ(one_names.size(), 2U);
    EXPECT_EQ(one.names(), &one_names);
    EXPECT_EQ(diff(property_bag(), one).names(), &one_names);
    EXPECT_EQ(diff(one, property_bag()).names(), &one_names);
}

TEST(property_diff_test, a_removal_of_what_was_not_there_counts_as_nothing) {
    const property_bag before;
    property_bag after;
    after.set_removed("x"_key);
    EXPECT_TRUE(diff(before, after).empty());
    EXPECT_TRUE(diff(after, after).empty());
}

} // namespace
} // namespace handlepool::test

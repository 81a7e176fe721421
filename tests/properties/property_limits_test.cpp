// SPDX-License-Identifier: MIT

// The limit of 64 KiB, and collisions of paths.

#include "collisions.hpp"

#include <handlepool/property_bag.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace handlepool::test {
namespace {

using namespace handlepool::property_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

// With a header of 8 bytes and an entry of 9, in units of 4.
constexpr std::size_t longest = 65'536 - 20;

property_bag full_bag() {
    property_bag bag;
    bag.set("text"_key, std::string(longest, 'x'));
    return bag;
}

TEST(property_limits_test, a_bag_has_room_for_64_kib_exactly) {
    property_bag bag = full_bag();
    EXPECT_EQ(bag.capacity(), 65'536U);
    EXPECT_EQ(bag.at<std::string_view>("text"_key), std::string(longest, 'x'));
    EXPECT_EQ(property_bag::from_bytes(bag.bytes()), bag);
    bag.shrink_to_fit();
    EXPECT_EQ(bag.capacity(), 65'536U);
    bag.reserve(65'536);
}

TEST(property_limits_test, a_larger_one_is_refused_with_the_path_and_the_sizes) {
    key_table names;
    names.add({"stats", "text"});
    property_bag bag(names);
    bag.set("one"_key, 1);
    const property_bag before = bag;
    EXPECT_THAT(
        [&] { bag.set("stats"_key / "text", std::string(longest, 'x')); },
        ThrowsMessage<bag_too_large>(R"(property "stats" / "text": with its 65516 bytes, the bag would need )"
                                     "65544 bytes, and may have 65536"));
    EXPECT_EQ(bag, before);
    EXPECT_FALSE(bag.try_set("stats"_key / "text", std::string(longest, 'x')));
    EXPECT_FALSE(bag.try_set("stats"_key / "text", std::string(10'000'000, 'x')));
    EXPECT_FALSE(bag.try_set("stats"_key / "array", std::vector<float>(16'384)));
    EXPECT_EQ(bag, before);
    EXPECT_TRUE(bag.try_set("stats"_key / "text", std::string(longest - 12, 'x')));
    EXPECT_THROW(bag.reserve(65'537), bag_too_large);
}

TEST(property_limits_test, a_full_bag_still_replaces_and_erases) {
    property_bag bag = full_bag();
    EXPECT_FALSE(bag.try_set("more"_key, true));
    bag.set("text"_key, std::string(longest, 'y'));
    EXPECT_EQ(bag.at<std::string_view>("text"_key), std::string(longest, 'y'));
    bag.set("text"_key, std::vector<float>(longest / 4, 1.0F));
    EXPECT_EQ(bag.at<std::span<const float>>("text"_key).size(), longest / 4);
    bag.set("text"_key, true);
    EXPECT_TRUE(bag.try_set("more"_key, true));
    bag.shrink_to_fit();
    EXPECT_EQ(bag.capacity(), 28U);
}

TEST(property_limits_test, a_content_that_replaces_another_needs_no_room_for_both) {
    property_bag bag = full_bag();
    bag.set("text"_key, std::string(40'000, 'x'));
    bag.set("other"_key, std::string(20'000, 'y'));
    bag.set("other"_key, std::string(25'000, 'z')); // neither in its place, nor beside it
    EXPECT_EQ(bag.at<std::string_view>("text"_key), std::string(40'000, 'x'));
    EXPECT_EQ(bag.at<std::string_view>("other"_key), std::string(25'000, 'z'));
}

TEST(property_limits_test, a_bag_has_room_for_7280_numbers) {
    property_bag bag;
    std::size_t count = 0;
    while (bag.try_set(property_path(std::to_string(count)), static_cast<float>(count))) {
        ++count;
    }
    EXPECT_EQ(count, 7'280U);
    ASSERT_EQ(bag.size(), count) << "no two of them collide";
    for (std::size_t i = 0; i != count; ++i) {
        EXPECT_EQ(bag.at<float>(property_path(std::to_string(i))), static_cast<float>(i));
    }
    EXPECT_EQ(property_bag::from_bytes(bag.bytes()), bag);
}

TEST(property_limits_test, an_attached_bag_refuses_a_path_that_collides) {
    key_table names;
    names.add({colliding_keys[0]});
    property_bag bag(names);
    bag.set(property_path(colliding_keys[0]), 1);
    const property_path other(colliding_keys[1]);
    EXPECT_THAT(
        [&] { bag.set(other, 2); },
        ThrowsMessage<path_collision>(AllOf(HasSubstr(colliding_keys[0]), HasSubstr("have the same hash"))));
    EXPECT_FALSE(bag.try_set(other, 2));
    EXPECT_THROW(bag.set_removed(other), path_collision);
    EXPECT_EQ(bag.at<float>(property_path(colliding_keys[0])), 1.0F);
    EXPECT_EQ(bag.size(), 1U);
}

TEST(property_limits_test, paths_that_no_one_has_named_collide_too) {
    key_table names;
    property_bag one(names);
    property_bag copy = one;
    one.set(property_path(colliding_keys[0]), 1);
    EXPECT_THROW(copy.set(property_path(colliding_keys[1]), 2), path_collision) << "one table for all bags";
}

TEST(property_limits_test, without_a_table_paths_that_collide_are_one) {
    property_bag bag;
    bag.set(property_path(colliding_keys[0]), 1);
    bag.set(property_path(colliding_keys[1]), 2);
    EXPECT_EQ(bag.size(), 1U);
    EXPECT_EQ(bag.at<float>(property_path(colliding_keys[0])), 2.0F);
}

} // namespace
} // namespace handlepool::test

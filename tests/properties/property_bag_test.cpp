// SPDX-License-Identifier: MIT
#include <handlepool/property_bag.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <optional>
#include <regex>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

using namespace handlepool::property_literals;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

using floats = std::span<const float>;

static_assert(std::is_nothrow_move_constructible_v<property_bag>);
static_assert(std::is_nothrow_move_assignable_v<property_bag>);
static_assert(std::is_nothrow_default_constructible_v<property_bag>);
static_assert(std::is_nothrow_swappable_v<property_bag>);
static_assert(std::is_trivially_copyable_v<property_view>);
static_assert(sizeof(property_bag) <= 24);
static_assert(std::forward_iterator<property_reader::iterator>);
static_assert(!property_value<std::vector<int>>);
static_assert(!property_value<char>, "is it a number, or a string?");
static_assert(!property_value<std::nullptr_t>, "a string that is none");
static_assert(!property_value<void*>, "which would be a truth elsewhere");

property_bag sheet_of_all_kinds() {
    property_bag sheet;
    sheet.set("name"_key, "Anna");
    sheet.set("stats"_key / "health", 10);
    sheet.set("stats"_key / "luck", {0.5F, 1.0F, -2.0F});
    sheet.set("awake"_key, true);
    return sheet;
}

TEST(property_bag_test, a_new_one_is_empty_and_has_no_memory) {
    const property_bag bag;
    EXPECT_TRUE(bag.empty());
    EXPECT_EQ(bag.size(), 0U);
    EXPECT_EQ(bag.begin(), bag.end());
    EXPECT_FALSE(bag.contains("name"_key));
    EXPECT_EQ(bag.kind("name"_key), property_kind::none);
    EXPECT_EQ(bag.bytes().data(), property_bag().bytes().data()) << "shared by all";
}

TEST(property_bag_test, keeps_values_of_each_kind) {
    const property_bag sheet = sheet_of_all_kinds();
    EXPECT_EQ(sheet.size(), 4U);
    EXPECT_EQ(sheet.at<std::string_view>("name"_key), "Anna");
    EXPECT_EQ(sheet.at<float>("stats"_key / "health"), 10.0F);
    EXPECT_THAT(sheet.at<floats>("stats"_key / "luck"), ElementsAre(0.5F, 1.0F, -2.0F));
    EXPECT_EQ(sheet.at<bool>("awake"_key), true);
    EXPECT_EQ(sheet.kind("awake"_key), property_kind::boolean);
    EXPECT_EQ(sheet.kind("stats"_key / "health"), property_kind::number);
    EXPECT_EQ(sheet.kind("name"_key), property_kind::string);
    EXPECT_EQ(sheet.kind("stats"_key / "luck"), property_kind::numbers);
}

TEST(property_bag_test, a_key_with_a_dot_is_a_key) {
    property_bag bag;
    bag.set("stats.health"_key, 1);
    bag.set("stats"_key / "health", 2);
    EXPECT_EQ(bag.at<float>("stats.health"_key), 1.0F);
    EXPECT_EQ(bag.at<float>("stats"_key / "health"), 2.0F);
}

TEST(property_bag_test, a_value_of_another_kind_is_none) {
    const property_bag sheet = sheet_of_all_kinds();
    EXPECT_EQ(sheet.get<bool>("stats"_key / "health"), std::nullopt);
    EXPECT_EQ(sheet.get<float>("awake"_key), std::nullopt);
    EXPECT_EQ(sheet.get<float>("name"_key), std::nullopt);
    EXPECT_EQ(sheet.get<std::string_view>("stats"_key / "luck"), std::nullopt);
    EXPECT_FALSE(sheet.get<floats>("name"_key).has_value());
    EXPECT_EQ(sheet.value_or("stats"_key / "health", 3.0F), 10.0F);
    EXPECT_EQ(sheet.value_or("stats"_key / "mana", 3.0F), 3.0F);
    EXPECT_EQ(sheet.value_or("awake"_key, 3.0F), 3.0F);
}

TEST(property_bag_test, at_says_what_is_missing) {
    key_table names;
    names.add({"stats", "health"});
    property_bag sheet = sheet_of_all_kinds();
    sheet.set_names(names);
    EXPECT_THAT([&] { sheet.at<bool>("stats"_key / "health"); },
                ThrowsMessage<no_such_property>(
                    R"(property "stats" / "health": is a number, and a truth is asked for)"));
    EXPECT_THAT(
        [&] { sheet.at<floats>("mana"_key); },
        ThrowsMessage<no_such_property>(AllOf(
            HasSubstr("property path #"), HasSubstr("is nothing, and an array of numbers is asked for"))));
}

TEST(property_bag_test, numbers_are_the_nearest_floats) {
    property_bag bag;
    bag.set("a"_key, 16'777'217);
    EXPECT_EQ(bag.at<float>("a"_key), 16'777'216.0F);
    bag.set("a"_key, 0.1);
    EXPECT_EQ(bag.at<float>("a"_key), 0.1F);
    bag.set("a"_key, std::numeric_limits<std::uint64_t>::max());
    EXPECT_EQ(bag.at<float>("a"_key), 18'446'744'073'709'551'616.0F);
    bag.set("a"_key, -0.0F);
    EXPECT_EQ(std::bit_cast<std::uint32_t>(bag.at<float>("a"_key)), 0x8000'0000U);
    bag.set("a"_key, std::numeric_limits<float>::quiet_NaN());
    EXPECT_EQ(std::bit_cast<std::uint32_t>(bag.at<float>("a"_key)),
              std::bit_cast<std::uint32_t>(std::numeric_limits<float>::quiet_NaN()));
}

TEST(property_bag_test, strings_come_from_all_that_is_one) {
    property_bag bag;
    bag.set("a"_key, "literal");
    bag.set("b"_key, std::string("string"));
    bag.set("c"_key, std::string_view("a\0b", 3));
    const char* const text = "pointer";
    bag.set("d"_key, text);
    EXPECT_EQ(bag.at<std::string_view>("a"_key), "literal");
    EXPECT_EQ(bag.at<std::string_view>("b"_key), "string");
    EXPECT_EQ(bag.at<std::string_view>("c"_key), std::string_view("a\0b", 3));
    EXPECT_EQ(bag.at<std::string_view>("d"_key), "pointer");
}

TEST(property_bag_test, arrays_come_from_all_that_is_one) {
    property_bag bag;
    bag.set("a"_key, std::vector<float>{1, 2});
    const float array[] = {3, 4};
    bag.set("b"_key, array);
    bag.set("c"_key, floats());
    bag.set("d"_key, std::span<float>());
    EXPECT_THAT(bag.at<floats>("a"_key), ElementsAre(1, 2));
    EXPECT_THAT(bag.at<floats>("b"_key), ElementsAre(3, 4));
    EXPECT_THAT(bag.at<floats>("c"_key), IsEmpty());
    EXPECT_THAT(bag.at<floats>("d"_key), IsEmpty());
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(bag.at<floats>("a"_key).data()) % alignof(float), 0U);
}

TEST(property_bag_test, an_empty_string_is_a_value) {
    property_bag bag;
    bag.set("a"_key, "");
    EXPECT_EQ(bag.get<std::string_view>("a"_key), "");
    EXPECT_EQ(bag.get<std::string_view>("b"_key), std::nullopt);
}

TEST(property_bag_test, a_value_replaces_one_of_any_kind) {
    property_bag bag;
    bag.set("other"_key, "stays");
    const auto set_each = [&](int which) {
        switch (which) {
        case 0:
            return bag.set("a"_key, true);
        case 1:
            return bag.set("a"_key, 7);
        case 2:
            return bag.set("a"_key, "short");
        case 3:
            return bag.set("a"_key, std::string(100, 'x'));
        case 4:
            return bag.set("a"_key, {1.0F, 2.0F});
        default:
            return bag.set_removed("a"_key);
        }
    };
    for (int before = 0; before != 6; ++before) {
        for (int after = 0; after != 6; ++after) {
            set_each(before);
            set_each(after);
            EXPECT_EQ(bag.size(), 2U);
            EXPECT_EQ(bag.at<std::string_view>("other"_key), "stays");
            property_bag expected;
            expected.set("other"_key, "stays");
            std::swap(bag, expected);
            set_each(after);
            EXPECT_EQ(bag, expected);
        }
    }
}

TEST(property_bag_test, a_string_of_the_bag_can_be_set_again) {
    property_bag bag;
    bag.set("a"_key, std::string(50, 'a') + std::string(50, 'b'));
    for (int i = 0; i != 20; ++i) { // in place, in free space, and while the bag grows
        bag.set(property_path("copy " + std::to_string(i)), bag.at<std::string_view>("a"_key));
    }
    for (int i = 0; i != 20; ++i) {
        EXPECT_EQ(bag.at<std::string_view>(property_path("copy " + std::to_string(i))),
                  std::string(50, 'a') + std::string(50, 'b'));
    }
    bag.set("a"_key, bag.at<std::string_view>("a"_key).substr(49, 2));
    EXPECT_EQ(bag.at<std::string_view>("a"_key), "ab");
}

TEST(property_bag_test, erase_says_whether_there_was_one) {
    property_bag sheet = sheet_of_all_kinds();
    EXPECT_TRUE(sheet.erase("name"_key));
    EXPECT_FALSE(sheet.erase("name"_key));
    EXPECT_FALSE(sheet.contains("name"_key));
    EXPECT_EQ(sheet.size(), 3U);
    EXPECT_EQ(sheet.at<float>("stats"_key / "health"), 10.0F);
    EXPECT_FALSE(property_bag().erase("name"_key));
}

TEST(property_bag_test, clear_keeps_the_memory_and_shrinking_gives_it_back) {
    property_bag sheet = sheet_of_all_kinds();
    const std::size_t capacity = sheet.capacity();
    sheet.clear();
    EXPECT_TRUE(sheet.empty());
    EXPECT_EQ(sheet.capacity(), capacity);
    EXPECT_EQ(sheet, property_bag());
    sheet.shrink_to_fit();
    EXPECT_EQ(sheet.bytes().data(), property_bag().bytes().data());
    sheet.set("a"_key, 1);
    EXPECT_EQ(sheet.size(), 1U);
    property_bag().clear();
}

TEST(property_bag_test, shrinking_leaves_nothing_unused) {
    property_bag bag;
    bag.set("one"_key, 1);
    bag.shrink_to_fit();
    EXPECT_EQ(bag.capacity(), 20U) << "8, and 9 in units of 4";
    EXPECT_EQ(bag.at<float>("one"_key), 1.0F);
    const void* const memory = bag.bytes().data();
    bag.shrink_to_fit();
    EXPECT_EQ(bag.bytes().data(), memory) << "there is nothing to do";
}

TEST(property_bag_test, reserved_memory_is_enough) {
    property_bag bag;
    bag.reserve(1000);
    EXPECT_GE(bag.capacity(), 1000U);
    const void* const memory = bag.bytes().data();
    bag.set("a"_key, std::string(900, 'x'));
    bag.reserve(10);
    EXPECT_EQ(bag.bytes().data(), memory);
    bag.reserve(2001);
    EXPECT_EQ(bag.capacity(), 2004U);
    EXPECT_EQ(bag.at<std::string_view>("a"_key), std::string(900, 'x'));
    bag.reserve(0);
    EXPECT_EQ(bag.capacity(), 2004U);
}

TEST(property_bag_test, the_holes_of_former_contents_are_closed_before_the_bag_grows) {
    property_bag bag;
    bag.reserve(1000);
    bag.set("kept"_key, "kept");
    for (std::size_t i = 0; i != 1000; ++i) {
        bag.set("a"_key, std::string(i % 7 * 40, 'a'));
        bag.set("b"_key, std::string(i % 5 * 40, 'b'));
        bag.erase(i % 2 == 0 ? "a"_key : "b"_key);
    }
    EXPECT_EQ(bag.capacity(), 1000U);
    EXPECT_EQ(bag.at<std::string_view>("kept"_key), "kept");
}

TEST(property_bag_test, copies_are_bags_of_their_own_with_the_same_bytes) {
    property_bag sheet = sheet_of_all_kinds();
    sheet.reserve(500);
    property_bag copy = sheet;
    EXPECT_EQ(copy, sheet);
    EXPECT_NE(copy.bytes().data(), sheet.bytes().data());
    EXPECT_TRUE(std::ranges::equal(copy.bytes(), sheet.bytes())) << "and so goes on growing alike";
    copy.set("name"_key, "Bert");
    EXPECT_EQ(sheet.at<std::string_view>("name"_key), "Anna");
    EXPECT_NE(copy, sheet);
    const std::byte* const memory = copy.bytes().data();
    copy = sheet;
    EXPECT_EQ(copy, sheet);
    EXPECT_EQ(copy.bytes().data(), memory) << "its memory is as large";
    const property_bag& same = copy;
    copy = same;
    EXPECT_EQ(copy, sheet);
    sheet.shrink_to_fit();
    copy = sheet;
    EXPECT_TRUE(std::ranges::equal(copy.bytes(), sheet.bytes()));
    EXPECT_EQ(property_bag(property_view(sheet)).capacity(), sheet.capacity()) << "nothing unused";
    copy = property_bag();
    EXPECT_TRUE(copy.empty());
    const property_bag none;
    sheet = none;
    EXPECT_TRUE(std::ranges::equal(sheet.bytes(), none.bytes()));
}

TEST(property_bag_test, a_moved_from_bag_is_empty_and_can_be_used) {
    property_bag sheet = sheet_of_all_kinds();
    const property_bag expected = sheet;
    property_bag moved = std::move(sheet);
    EXPECT_EQ(moved, expected);
    EXPECT_TRUE(sheet.empty()); // NOLINT: it is promised
    sheet.set("a"_key, 1);
    EXPECT_EQ(sheet.size(), 1U);
    sheet = std::move(moved);
    EXPECT_EQ(sheet, expected);
    property_bag& same = sheet;
    sheet = std::move(same);
    EXPECT_EQ(sheet, expected);
}

TEST(property_bag_test, swapping_exchanges_all) {
    key_table names;
    property_bag one = sheet_of_all_kinds();
    property_bag other(names);
    swap(one, other);
    EXPECT_TRUE(one.empty());
    EXPECT_EQ(one.names(), &names);
    EXPECT_EQ(other, sheet_of_all_kinds());
    EXPECT_EQ(other.names(), nullptr);
}

TEST(property_bag_test, bags_are_equal_however_they_came_about) {
    property_bag one;
    property_bag other;
    for (int i = 0; i != 20; ++i) {
        one.set(property_path(std::to_string(i)), std::to_string(i));
        other.set(property_path(std::to_string(19 - i)), std::to_string(19 - i));
    }
    EXPECT_EQ(one, other);
    other.reserve(5000);
    EXPECT_EQ(one, other);
    other.set("7"_key, "eight");
    EXPECT_NE(one, other);
    other.set("7"_key, "7");
    other.set("more"_key, 1);
    EXPECT_NE(one, other);
    property_bag number;
    property_bag truth;
    number.set("a"_key, std::bit_cast<float>(1U));
    truth.set("a"_key, true);
    EXPECT_NE(number, truth) << "whose bits are the same";
}

TEST(property_bag_test, iteration_gives_each_property_once_in_the_order_of_hashes) {
    const property_bag sheet = sheet_of_all_kinds();
    std::vector<property_hash> seen;
    for (const property one : sheet) {
        seen.push_back(one.hash());
        EXPECT_EQ(sheet.kind(one.hash()), one.kind());
        EXPECT_EQ(one.get<float>().has_value(), one.kind() == property_kind::number);
        EXPECT_EQ(one.get<bool>().has_value(), one.kind() == property_kind::boolean);
        EXPECT_EQ(one.get<floats>().has_value(), one.kind() == property_kind::numbers);
        EXPECT_EQ(one.get<std::string_view>(), sheet.get<std::string_view>(one.hash()));
    }
    EXPECT_THAT(seen, testing::UnorderedElementsAre("name"_key.hash(), ("stats"_key / "health").hash(),
                                                    ("stats"_key / "luck").hash(), "awake"_key.hash()));
    EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
    EXPECT_EQ(std::distance(sheet.begin(), sheet.end()), 4);
    property_view::iterator before = sheet.begin();
    EXPECT_EQ(before++, sheet.begin());
}

TEST(property_bag_test, a_view_reads_the_bag_where_it_is) {
    key_table names;
    property_bag sheet(names);
    sheet.set("name"_key, "Anna");
    const property_view view = sheet;
    EXPECT_EQ(view.at<std::string_view>("name"_key).data(), sheet.at<std::string_view>("name"_key).data());
    EXPECT_EQ(view.names(), &names);
    EXPECT_EQ(view, sheet);
    EXPECT_TRUE(property_view().empty());
    key_table others;
    others.add({"name"});
    EXPECT_EQ(describe(property_view(sheet, others)), "\"name\": \"Anna\"\n");
    EXPECT_EQ(sheet.names(), &names);
    const property_bag copy(view);
    EXPECT_EQ(copy, sheet);
    EXPECT_EQ(copy.names(), &names);
}

TEST(property_bag_test, a_text_for_people_names_what_is_known) {
    key_table names;
    property_bag sheet(names);
    names.add({"stats", "health"});
    sheet.set("stats"_key / "health", 10);
    EXPECT_EQ(describe(sheet), "\"stats\" / \"health\": 10\n");
    sheet.clear();
    sheet.set("a"_key, {0.5F, 1.0F});
    const std::regex by_hash("path #[0-9a-f]+: \\[0.5, 1\\]\n"); // GoogleTest knows no brackets on Windows
    EXPECT_TRUE(std::regex_match(describe(sheet), by_hash)) << describe(sheet);
    sheet.set_removed("a"_key);
    EXPECT_THAT(describe(sheet), HasSubstr(": removed\n"));
    sheet.set("a"_key, "text");
    EXPECT_THAT(describe(sheet), HasSubstr(": \"text\"\n"));
    sheet.set("a"_key, false);
    EXPECT_THAT(describe(sheet), HasSubstr(": false\n"));
    EXPECT_EQ(describe(property_bag()), "");
}

} // namespace
} // namespace handlepool::test

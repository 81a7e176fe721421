// SPDX-License-Identifier: MIT
#include "collisions.hpp"

#include <handlepool/property_json.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tests/support/random.hpp>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace handlepool::test {
namespace {

using namespace handlepool::property_literals;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;
using testing::ThrowsMessage;

using floats = std::span<const float>;

/// Why a text is refused; empty if it is not.
std::string refusal(std::string_view json, key_table* names = nullptr) {
    std::string error;
    const bool taken = try_bag_from_json(json, "sheet.json", error, names).has_value();
    EXPECT_EQ(taken, error.empty());
    return error;
}

std::string round_trip(std::string_view json) {
    key_table names;
    return to_json(bag_from_json(json, "sheet.json", &names), -1);
}

TEST(property_json_test, values_of_each_kind_are_read) {
    const property_bag bag = bag_from_json(R"({
        "name": "Anna", "stats": {"health": 10, "luck": [0.5, 1, -2e0], "more": {"depth": 3}},
        "awake": true, "asleep": false, "nothing": [], "a.b": -1
    })",
                                           "sheet.json");
    EXPECT_EQ(bag.size(), 8U);
    EXPECT_EQ(bag.at<std::string_view>("name"_key), "Anna");
    EXPECT_EQ(bag.at<float>("stats"_key / "health"), 10.0F);
    EXPECT_THAT(bag.at<floats>("stats"_key / "luck"), ElementsAre(0.5F, 1.0F, -2.0F));
    EXPECT_EQ(bag.at<float>("stats"_key / "more" / "depth"), 3.0F);
    EXPECT_TRUE(bag.at<bool>("awake"_key));
    EXPECT_FALSE(bag.at<bool>("asleep"_key));
    EXPECT_THAT(bag.at<floats>("nothing"_key), IsEmpty());
    EXPECT_EQ(bag.at<float>("a.b"_key), -1.0F);
}

TEST(property_json_test, objects_without_values_leave_nothing) {
    EXPECT_TRUE(bag_from_json("{}", "").empty());
    EXPECT_TRUE(bag_from_json(R"( {"a": {}, "b": {"c": {}}} )", "").empty());
    EXPECT_EQ(round_trip("{}"), "{}");
}

TEST(property_json_test, strings_are_unescaped) {
    const property_bag bag =
        bag_from_json(R"({"a": "\"\\\/\b\f\n\r\t\u0041\u00e9\ud83d\ude00\u0000", "\u006b": ""})", "");
    EXPECT_EQ(bag.at<std::string_view>("a"_key),
              std::string_view("\"\\/\b\f\n\r\tA\xc3\xa9\xf0\x9f\x98\x80\0", 16));
    EXPECT_EQ(bag.at<std::string_view>("k"_key), "");
}

TEST(property_json_test, numbers_become_the_nearest_float) {
    const property_bag bag = bag_from_json(
        R"({"a": 0.1, "b": 16777217, "c": 18446744073709551615, "d": -9223372036854775808, "e": 1e-60, "f": -0.0,
            "j": -0, "k": 0, "g": 3.4028234e38, "h": 123456789012345678901234567890, "i": 1.00000005960464477540})",
        "");
    EXPECT_EQ(bag.at<float>("a"_key), 0.1F);
    EXPECT_EQ(bag.at<float>("b"_key), 16'777'216.0F);
    EXPECT_EQ(bag.at<float>("c"_key), 18'446'744'073'709'551'616.0F);
    EXPECT_EQ(bag.at<float>("d"_key), -9'223'372'036'854'775'808.0F);
    EXPECT_EQ(bag.at<float>("e"_key), 0.0F);
    EXPECT_TRUE(std::signbit(bag.at<float>("f"_key)));
    EXPECT_TRUE(std::signbit(bag.at<float>("j"_key)));
    EXPECT_FALSE(std::signbit(bag.at<float>("k"_key)));
    EXPECT_EQ(bag.at<float>("g"_key), std::numeric_limits<float>::max());
    EXPECT_EQ(bag.at<float>("h"_key), 1.2345679e29F);
    EXPECT_EQ(bag.at<float>("i"_key), 1.0000001F) << "which by way of a double would be 1";
}

TEST(property_json_test, what_a_bag_has_no_value_for_is_refused_with_line_and_column) {
    EXPECT_THAT(refusal("{\"a\": null}"),
                StartsWith("sheet.json:1:7: null can't be kept; allowed are objects, true, "
                           "false, numbers, strings and arrays of numbers"));
    EXPECT_THAT(refusal("{\n  \"a\": [1,\n  \"b\"]\n}"),
                StartsWith("sheet.json:3:3: an array of anything but numbers can't be kept"));
    EXPECT_THAT(refusal("{\"a\": [1, true]}"), StartsWith("sheet.json:1:11: an array of"));
    EXPECT_THAT(refusal("{\"a\": [null]}"), StartsWith("sheet.json:1:8: null"));
    EXPECT_THAT(refusal("{\"a\": [{}]}"), StartsWith("sheet.json:1:8: an array of"));
    EXPECT_THAT(refusal("{\"a\": [ [1]]}"), StartsWith("sheet.json:1:9: an array of"));
    EXPECT_EQ(refusal("[1, 2]"), "sheet.json:1:1: the text is no object");
    EXPECT_EQ(refusal("  7"), "sheet.json:1:3: the text is no object");
    EXPECT_EQ(refusal("\"text\""), "sheet.json:1:1: the text is no object");
    EXPECT_EQ(refusal("true"), "sheet.json:1:1: the text is no object");
    EXPECT_EQ(refusal("{\"a\": 1e39}"), "sheet.json:1:7: the number is beyond the range of a float");
    EXPECT_EQ(refusal("{\"a\": [0, -1e39]}"), "sheet.json:1:11: the number is beyond the range of a float");
}

TEST(property_json_test, positions_are_right_whatever_stands_before) {
    EXPECT_THAT(refusal("\xef\xbb\xbf{\"a\": null}"), StartsWith("sheet.json:1:10: ")) << "a byte order mark";
    EXPECT_THAT(refusal(R"({"\"\\": "a\\\"", "b" : [ 1 , 2.5e3 ], "c": {} , "d":null})"),
                StartsWith("sheet.json:1:54: null"));
    EXPECT_THAT(refusal("{\"a\":1,\r\n\t\"b\":true,\n\n \"c\":{\"d\":\"{[,:\"},\"e\":null}"),
                StartsWith("sheet.json:4:23: null"));
    EXPECT_THAT(refusal("{\"\xc3\xa9\": null}"), StartsWith("sheet.json:1:8: ")) << "columns are bytes";
}

TEST(property_json_test, what_is_no_json_is_refused_with_line_and_column) {
    EXPECT_THAT(refusal(""),
                AllOf(StartsWith("sheet.json:1:1: syntax error"), HasSubstr("unexpected end of input")));
    EXPECT_THAT(refusal("{\n  \"a\": 1,\n}"),
                AllOf(StartsWith("sheet.json:3:1: syntax error"), HasSubstr("unexpected '}'")));
    EXPECT_THAT(refusal("{\"a\": 1} x"),
                AllOf(StartsWith("sheet.json:1:10: "), HasSubstr("invalid literal")));
    EXPECT_THAT(refusal("{\"a\": 'b'}"), StartsWith("sheet.json:1:7: "));
    EXPECT_THAT(refusal("{\"a\": \"b\n\"}"), StartsWith("sheet.json:1:9: ")) << "where the string breaks";
    EXPECT_THAT(refusal("{\"a\": \"\xff\"}"), HasSubstr("ill-formed UTF-8"));
    EXPECT_THAT(refusal("{\"a\": NaN}"), StartsWith("sheet.json:1:7: "));
    EXPECT_THAT(refusal("{\"a\": /* b */ 1}"), StartsWith("sheet.json:1:7: "));
    EXPECT_EQ(refusal(std::string_view("{}\0x", 4)),
              "sheet.json:1:3: the byte is null, at which the parser would stop");
}

TEST(property_json_test, messages_can_be_read_whatever_stands_in_the_text) {
    EXPECT_EQ(
        refusal("{\"a\": \"\xff\"}"),
        "sheet.json:1:8: syntax error while parsing value - invalid string: ill-formed UTF-8 byte; last "
        "read: '\"\ufffd'");
    EXPECT_EQ(refusal("{\"a\\n\": 1, \"a\\n\": 1}"),
              "sheet.json:1:12: the key \"a\\n\" stands twice in one object");
    std::string error;
    EXPECT_FALSE(try_bag_from_json("7", "a\nb\xff", error));
    EXPECT_EQ(error, "a\ufffdb\ufffd:1:1: the text is no object");
}

TEST(property_json_test, every_text_that_is_cut_off_is_refused) {
    const std::string_view text = R"({"a": [1, 2.5], "b": {"c": "\u00e9", "d": true}, "e": -1})";
    EXPECT_EQ(refusal(text), "");
    for (std::size_t size = 0; size != text.size(); ++size) {
        EXPECT_NE(refusal(text.substr(0, size)), "") << text.substr(0, size);
    }
}

TEST(property_json_test, a_key_that_stands_twice_in_an_object_is_refused) {
    EXPECT_EQ(refusal(R"({"a": 1, "a": 2})"), "sheet.json:1:10: the key \"a\" stands twice in one object");
    EXPECT_EQ(refusal(R"({"a": {"b": 1}, "a": {"c": 2}})"),
              "sheet.json:1:17: the key \"a\" stands twice in one object");
    EXPECT_EQ(refusal(R"({"a": {"a": 1}, "b": {"a": 2}})"), "");
}

TEST(property_json_test, nesting_is_bounded) {
    const auto nested = [](std::size_t depth) {
        std::string text;
        for (std::size_t i = 1; i != depth; ++i) {
            text += "{\"a\":";
        }
        return text + "{\"b\": 1}" + std::string(depth - 1, '}');
    };
    EXPECT_EQ(refusal(nested(deepest_property)), "");
    EXPECT_EQ(refusal(nested(deepest_property + 1)),
              "sheet.json:1:161: objects are nested deeper than 32 levels");
    EXPECT_NE(refusal(std::string(1'000'000, '{')), "");
    EXPECT_NE(refusal("{\"a\":" + std::string(1'000'000, '[')), "");
    EXPECT_EQ(round_trip(nested(deepest_property)).size(), nested(deepest_property).size() + 1)
        << "1.0, and no space";
}

TEST(property_json_test, what_has_no_room_is_refused_with_line_and_column) {
    const std::string text(65'600, 'x');
    EXPECT_EQ(refusal("{\"a\": 1,\n \"b\": {\"c\": \"" + text + "\"}}"),
              "sheet.json:2:13: with \"b\" / \"c\" the bag would exceed its 65536 bytes");
}

TEST(property_json_test, paths_that_collide_are_refused_with_line_and_column) {
    const std::string one = colliding_keys[0];
    const std::string other = colliding_keys[1];
    EXPECT_THAT(
        refusal("{\"" + one + "\": 1,\n\"" + other + "\": 2}"),
        AllOf(StartsWith("sheet.json:2:15: \"" + one + "\" and \"" + other + "\""), HasSubstr("same hash")));
    key_table names;
    names.add({one});
    EXPECT_THAT(refusal("{\"" + other + "\": 2}", &names),
                AllOf(StartsWith("sheet.json:1:16: "), HasSubstr(one)));
    EXPECT_EQ(names.size(), 1U);
}

TEST(property_json_test, the_table_knows_the_paths_of_a_text_that_is_taken_and_of_no_other) {
    key_table names;
    EXPECT_NE(refusal(R"({"a": 1, "b": null})", &names), "");
    EXPECT_EQ(names.size(), 0U);
    const property_bag bag = bag_from_json(R"({"a": {"b": 1}})", "", &names);
    EXPECT_EQ(bag.names(), &names);
    EXPECT_THAT(names.keys_of("a"_key / "b"), ElementsAre("a", "b"));
    EXPECT_EQ(names.size(), 1U);
    EXPECT_EQ(bag_from_json("{}", "").names(), nullptr);
}

TEST(property_json_test, errors_have_line_and_column) {
    try {
        bag_from_json("{\n \"a\": null}", "sheet.json");
        FAIL();
    } catch (const invalid_property_json& error) {
        EXPECT_EQ(error.line(), 2U);
        EXPECT_EQ(error.column(), 7U);
        EXPECT_THAT(error.what(), StartsWith("sheet.json:2:7: null"));
    }
}

TEST(property_json_test, what_is_written_is_read_again) {
    const std::string_view text = R"({"a":{"b":true,"c":[0.1,2.0]},"d":"\"\né","e":10.0})";
    EXPECT_EQ(round_trip(text), text);
    key_table names;
    const property_bag bag = bag_from_json(text, "", &names);
    EXPECT_EQ(to_json(bag, 2), "{\n  \"a\": {\n    \"b\": true,\n    \"c\": [0.1, 2.0]\n  },\n  \"d\": "
                               "\"\\\"\\n\xc3\xa9\",\n  \"e\": "
                               "10.0\n}");
    EXPECT_EQ(bag_from_json(to_json(bag), ""), bag);
    EXPECT_EQ(bag_from_json(to_json(bag, 0), ""), bag);
}

TEST(property_json_test, groups_are_written_once_in_the_order_of_their_keys) {
    const std::string_view text =
        R"({"a":{"a":{"a":[],"b":1.0},"b":{"a":2.0}},"b":"","c":{"a":{"a":{"a":3.0}}},"d":{"a":4.0}})";
    EXPECT_EQ(round_trip(text), text);
    EXPECT_EQ(round_trip(R"({"a b": 1, "a": {"b": 2}, "a!": 3})"), R"({"a":{"b":2.0},"a b":1.0,"a!":3.0})");
}

TEST(property_json_test, each_finite_number_is_read_as_it_was) {
    random_source random;
    key_table names;
    property_bag bag(names);
    const property_path path = names.add({"number"});
    for (int round = 0; round != 20'000; ++round) {
        const auto number = std::bit_cast<float>(static_cast<std::uint32_t>(random.bits()));
        bag.set(path, number);
        if (std::isfinite(number)) {
            ASSERT_EQ(bag_from_json(to_json(bag), ""), bag) << number;
        }
    }
    for (const float number :
         {0.0F, -0.0F, std::numeric_limits<float>::denorm_min(), std::numeric_limits<float>::max()}) {
        bag.set(path, number);
        EXPECT_EQ(bag_from_json(to_json(bag), ""), bag) << number;
    }
}

/// Why a bag with that one property has no JSON.
template <class Value>
std::string problem_of(const Value& value) {
    key_table names;
    property_bag bag(names);
    bag.set(names.add({"a", "b"}), value);
    std::string error;
    EXPECT_EQ(try_to_json(bag, error), std::nullopt);
    EXPECT_THAT([&] { to_json(bag); }, ThrowsMessage<not_printable>(error));
    return error;
}

TEST(property_json_test, what_json_has_no_value_for_is_not_written) {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    EXPECT_EQ(problem_of(infinity), R"(property "a" / "b" has no JSON: the number is not finite)");
    EXPECT_EQ(problem_of(-infinity), R"(property "a" / "b" has no JSON: the number is not finite)");
    EXPECT_EQ(problem_of(std::vector<float>{1, std::nanf("")}),
              R"(property "a" / "b" has no JSON: a number is not finite)");
    EXPECT_EQ(problem_of("\xff"), R"(property "a" / "b" has no JSON: the string is not UTF-8)");
    EXPECT_EQ(problem_of("a\xed\xa0\x80"), R"(property "a" / "b" has no JSON: the string is not UTF-8)")
        << "a surrogate";
    EXPECT_EQ(problem_of("a\xc3"), R"(property "a" / "b" has no JSON: the string is not UTF-8)") << "cut off";
}

TEST(property_json_test, removals_are_not_written) {
    key_table names;
    property_bag bag(names);
    bag.set_removed(names.add({"a"}));
    EXPECT_THAT([&] { to_json(bag); },
                ThrowsMessage<not_printable>("property \"a\" has no JSON: it is a removal"));
}

TEST(property_json_test, paths_without_a_name_are_not_written) {
    key_table names;
    property_bag bag;
    bag.set("a"_key, 1);
    EXPECT_THAT([&] { to_json(bag); }, ThrowsMessage<not_printable>(HasSubstr("its keys are in no table")));
    bag.set_names(names);
    EXPECT_THAT([&] { to_json(bag); }, ThrowsMessage<not_printable>(HasSubstr("its keys are in no table")));
    names.add({"a"});
    EXPECT_EQ(to_json(bag, -1), R"({"a":1.0})");
    EXPECT_EQ(to_json(property_bag()), "{}") << "which has no paths";
}

TEST(property_json_test, paths_that_are_values_and_groups_are_not_written) {
    for (const bool array : {false, true}) {
        key_table names;
        property_bag bag(names);
        if (array) {
            bag.set(names.add({"a"}), {1.0F});
        } else {
            bag.set(names.add({"a"}), 1);
        }
        bag.set(names.add({"a", "b"}), 1);
        EXPECT_THAT([&] { to_json(bag); },
                    ThrowsMessage<not_printable>(HasSubstr(
                        "property \"a\" / \"b\" has no JSON: it stands in a group that is a value too")));
    }
}

TEST(property_json_test, keys_that_json_can_not_have_are_not_written) {
    key_table names;
    property_bag bag(names);
    bag.set(names.add({"\xff"}), 1);
    EXPECT_THAT([&] { to_json(bag); }, ThrowsMessage<not_printable>(HasSubstr("a key is not UTF-8")));
    bag.clear();
    bag.set(names.add(std::vector<std::string_view>(deepest_property + 1, "a")), 1);
    EXPECT_THAT([&] { to_json(bag); },
                ThrowsMessage<not_printable>(HasSubstr("it has more keys than objects may be nested")));
}

} // namespace
} // namespace handlepool::test

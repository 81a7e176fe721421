// SPDX-License-Identifier: MIT
#include <handlepool/pool.hpp>
#include <handlepool/pool_limits.hpp>
#include <handlepool/raw_pool.hpp>
#include <handlepool/service.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tests/support/message_of.hpp>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

namespace handlepool::test {
namespace {

using namespace detail;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::StartsWith;
using testing::ThrowsMessage;

constexpr std::string_view complete = R"({
    "pools": {
        "ships": {
            "capacity": 10000,
            "reuse_delay": 256,
            "slot_limit": 50000,
            "removal_queue_size": 512,
            "max_threads": 64,
            "remember_frames": true,
            "record_lives": 2,
            "record_stack": 15
        },
        "rockets": {"capacity": 7}
    }
})";

/// What is wrong with a configuration; nothing if it is taken.
std::string refusal(std::string_view json) {
    return message_of<std::invalid_argument>([&] { parse_pool_limits(json, "limits.json"); });
}

/// What is wrong with one field of a pool.
std::string refusal_of(std::string_view field, std::string_view value) {
    return refusal(R"({"pools": {"ships": {")" + std::string(field) + "\": " + std::string(value) + "}}}");
}

TEST(pool_limits_test, all_fields_are_read) {
    const limits_by_pool limits = parse_pool_limits(complete, "limits.json");
    ASSERT_EQ(limits.size(), 2U);
    const pool_limits& ships = limits.at("ships");
    EXPECT_EQ(ships.capacity, 10000U);
    EXPECT_EQ(ships.reuse_delay, 256U);
    EXPECT_EQ(ships.slot_limit, 50000U);
    EXPECT_EQ(ships.removal_queue_size, 512U);
    EXPECT_EQ(ships.max_threads, 64U);
    EXPECT_EQ(ships.remember_frames, true);
    EXPECT_EQ(ships.record_lives, 2U);
    EXPECT_EQ(ships.record_stack, 15U);
    EXPECT_EQ(ships.source, "limits.json: pools.ships");
    const pool_limits& rockets = limits.at("rockets");
    EXPECT_EQ(rockets.capacity, 7U);
    EXPECT_EQ(rockets.reuse_delay, std::nullopt);
    EXPECT_EQ(rockets.slot_limit, std::nullopt);
    EXPECT_EQ(rockets.removal_queue_size, std::nullopt);
    EXPECT_EQ(rockets.max_threads, std::nullopt);
    EXPECT_EQ(rockets.remember_frames, std::nullopt);
    EXPECT_EQ(rockets.record_lives, std::nullopt);
    EXPECT_EQ(rockets.record_stack, std::nullopt);
}

TEST(pool_limits_test, automatic_is_a_value_where_the_pool_can_choose) {
    const pool_limits limits = parse_pool_limits(R"({"pools": {"ships": {"reuse_delay": "automatic",
        "slot_limit": "automatic", "removal_queue_size": "automatic"}}})",
                                                 "limits.json")
                                   .at("ships");
    EXPECT_EQ(limits.reuse_delay, pool_options::automatic);
    EXPECT_EQ(limits.slot_limit, pool_options::automatic);
    EXPECT_EQ(limits.removal_queue_size, pool_options::automatic);
    for (const char* const field : {"capacity", "max_threads", "remember_frames"}) {
        EXPECT_THAT(refusal_of(field, R"("automatic")"), HasSubstr(R"(is "automatic", and must be)"))
            << field;
    }
}

TEST(pool_limits_test, little_is_needed) {
    EXPECT_THAT(parse_pool_limits(R"({"pools": {}})", "x"), IsEmpty());
    EXPECT_EQ(parse_pool_limits(R"({"pools": {"ships": {}}})", "x").at("ships").capacity, std::nullopt);
    EXPECT_EQ(refusal_of("reuse_delay", "0"), "");
    EXPECT_EQ(refusal_of("capacity", "4294967294"), "");
    EXPECT_EQ(refusal_of("remember_frames", "false"), "");
}

TEST(pool_limits_test, a_whole_number_is_one_however_it_is_written) {
    for (const char* const written : {"10000", "1e4", "10000.0", "1.0e4", "100000e-1", "1E+4"}) {
        EXPECT_EQ(refusal_of("capacity", written), "") << written;
        const std::string text = R"({"pools": {"ships": {"capacity": )" + std::string(written) + "}}}";
        EXPECT_EQ(parse_pool_limits(text, "x").at("ships").capacity, 10'000U) << written;
    }
    for (const char* const written : {"0", "-0", "0.0", "-0.0", "0e9"}) {
        EXPECT_EQ(refusal_of("reuse_delay", written), "") << written;
    }
    EXPECT_EQ(refusal_of("capacity", "1.5"),
              "limits.json: pools.ships.capacity: is 1.5, and must be a whole number from 1 to 4294967294");
    EXPECT_EQ(refusal_of("capacity", "1e10"), "limits.json: pools.ships.capacity: is 10000000000.0, and must "
                                              "be a whole number from 1 to 4294967294");
    EXPECT_EQ(refusal_of("capacity", "-1.0"),
              "limits.json: pools.ships.capacity: is -1.0, and must be a whole number from 1 to 4294967294");
    EXPECT_EQ(refusal_of("reuse_delay", "1e300"),
              "limits.json: pools.ships.reuse_delay: is 1e+300, and must be a whole number from 0 to "
              "4294967294, or \"automatic\"");
}

TEST(pool_limits_test, what_is_refused_can_be_read) {
    EXPECT_EQ(refusal("{\"po\\u001bols\": {}}"), "limits.json: has the key \"po\\u001bols\"; allowed: pools");
    std::string error;
    EXPECT_FALSE(try_parse_pool_limits("[]", "a\nb\xff", error));
    EXPECT_EQ(error, "a\ufffdb\ufffd: is an array, and must be an object");
    EXPECT_FALSE(try_read_pool_limits("/no/such\xff/file", error));
    EXPECT_EQ(error, "/no/such\ufffd/file: No such file or directory");
    EXPECT_EQ(refusal("{\"pools\xff\": {}}"),
              "limits.json: is not JSON: [json.exception.parse_error.101] parse error at line 1, column 8: "
              "syntax error while parsing object key - invalid string: ill-formed UTF-8 byte; last read: "
              "'\"pools\ufffd'; expected string literal");
}

TEST(pool_limits_test, what_is_said_stands_above_the_options_and_the_rest_stays) {
    const pool_options options{.name = "ships",
                               .capacity = 1,
                               .reuse_delay = 2,
                               .slot_limit = 3,
                               .removal_queue_size = 4,
                               .max_threads = 5,
                               .remember_frames = true,
                               .record_lives = 7,
                               .record_stack = 8,
                               .pool_id = 6};
    const auto equal = [](const pool_options& one, const pool_options& other) {
        return one.name == other.name && one.capacity == other.capacity &&
               one.reuse_delay == other.reuse_delay && one.slot_limit == other.slot_limit &&
               one.removal_queue_size == other.removal_queue_size && one.max_threads == other.max_threads &&
               one.remember_frames == other.remember_frames && one.record_lives == other.record_lives &&
               one.record_stack == other.record_stack && one.pool_id == other.pool_id;
    };
    EXPECT_TRUE(equal(pool_limits().applied_to(options), options));
    const pool_options changed = parse_pool_limits(complete, "x").at("ships").applied_to(options);
    EXPECT_TRUE(equal(changed, {.name = "ships",
                                .capacity = 10000,
                                .reuse_delay = 256,
                                .slot_limit = 50000,
                                .removal_queue_size = 512,
                                .max_threads = 64,
                                .remember_frames = true,
                                .record_lives = 2,
                                .record_stack = 15,
                                .pool_id = 6}));
    pool_limits off;
    off.remember_frames = false;
    EXPECT_FALSE(off.applied_to(options).remember_frames);
}

// ---- What is refused

TEST(refused_limits, numbers_that_can_not_be) {
    EXPECT_EQ(refusal_of("capacity", "0"),
              "limits.json: pools.ships.capacity: is 0, and must be a whole number from 1 to 4294967294");
    EXPECT_EQ(
        refusal_of("capacity", "4294967295"),
        "limits.json: pools.ships.capacity: is 4294967295, and must be a whole number from 1 to 4294967294");
    EXPECT_EQ(refusal_of("reuse_delay", "-1"),
              "limits.json: pools.ships.reuse_delay: is -1, and must be a whole "
              "number from 0 to 4294967294, or \"automatic\"");
    EXPECT_EQ(refusal_of("slot_limit", "0"), "limits.json: pools.ships.slot_limit: is 0, and must be a whole "
                                             "number from 1 to 4294967294, or \"automatic\"");
    EXPECT_EQ(
        refusal_of("removal_queue_size", "0"),
        "limits.json: pools.ships.removal_queue_size: is 0, and must be a whole number from 1 to 4294967294, "
        "or \"automatic\"");
    EXPECT_EQ(refusal_of("max_threads", "0"),
              "limits.json: pools.ships.max_threads: is 0, and must be a whole number from 1 to 4294967294");
    EXPECT_THAT(refusal_of("capacity", "18446744073709551615"),
                HasSubstr("capacity: is 18446744073709551615,"));
}

TEST(refused_limits, numbers_that_no_machine_word_holds) {
    EXPECT_THAT(refusal_of("capacity", "18446744073709551616"), StartsWith("limits.json: "));
    EXPECT_THAT(refusal_of("capacity", "1e300"), StartsWith("limits.json: pools.ships.capacity: is 1e+300,"));
    EXPECT_THAT(refusal_of("capacity", "1e999"), StartsWith("limits.json: "));
    EXPECT_THAT(refusal_of("capacity", "-1e999"), StartsWith("limits.json: "));
}

TEST(refused_limits, values_of_another_type) {
    EXPECT_EQ(
        refusal_of("capacity", R"("many")"),
        "limits.json: pools.ships.capacity: is \"many\", and must be a whole number from 1 to 4294967294");
    for (const char* const value : {"1.5", "10.25", "true", "null", "[1]", R"({"a": 1})", R"("1")"}) {
        for (const char* const field :
             {"capacity", "reuse_delay", "slot_limit", "removal_queue_size", "max_threads"}) {
            EXPECT_THAT(refusal_of(field, value),
                        AllOf(StartsWith("limits.json: pools.ships." + std::string(field)),
                              HasSubstr("must be a whole number")));
        }
    }
    EXPECT_EQ(refusal_of("remember_frames", "1"),
              "limits.json: pools.ships.remember_frames: is 1, and must be true or false");
    EXPECT_EQ(refusal_of("remember_frames", "null"),
              "limits.json: pools.ships.remember_frames: is null, and must be true or false");
}

TEST(refused_limits, keys_that_mean_nothing) {
    EXPECT_EQ(
        refusal_of("capactiy", "7"),
        "limits.json: pools.ships: has the key \"capactiy\"; allowed: capacity, reuse_delay, slot_limit, "
        "removal_queue_size, max_threads, remember_frames, record_lives, record_stack");
    EXPECT_EQ(refusal(R"({"pools": {}, "pool": {}})"), "limits.json: has the key \"pool\"; allowed: pools");
    EXPECT_EQ(refusal(R"({"pools": {"": {"capacity": 7}}})"), "limits.json: pools: has an empty name");
}

TEST(refused_limits, shapes_that_can_not_be) {
    EXPECT_EQ(refusal("{}"), "limits.json: has no key \"pools\"");
    EXPECT_EQ(refusal("[]"), "limits.json: is an array, and must be an object");
    EXPECT_EQ(refusal("7"), "limits.json: is 7, and must be an object");
    EXPECT_EQ(refusal("null"), "limits.json: is null, and must be an object");
    EXPECT_EQ(refusal(R"({"pools": []})"), "limits.json: pools: is an array, and must be an object");
    EXPECT_EQ(refusal(R"({"pools": {"ships": 7}})"), "limits.json: pools.ships: is 7, and must be an object");
}

TEST(refused_limits, keys_that_stand_twice) {
    EXPECT_EQ(refusal(R"({"pools": {"ships": {"capacity": 1, "capacity": 2}}})"),
              "limits.json: the key \"capacity\" stands twice in one object");
    EXPECT_EQ(refusal(R"({"pools": {"ships": {}, "rockets": {}, "ships": {}}})"),
              "limits.json: the key \"ships\" stands twice in one object");
    EXPECT_EQ(refusal(R"({"pools": {}, "pools": {}})"),
              "limits.json: the key \"pools\" stands twice in one object");
    EXPECT_EQ(refusal(R"({"pools": {"a": {"capacity": 1}, "b": {"capacity": 1}}})"), "")
        << "in different objects";
    EXPECT_THAT(refusal(R"({"pools": {"a": {}, "\u0061": {}}})"), HasSubstr("\"a\" stands twice"))
        << "however it is written";
}

TEST(refused_limits, what_is_not_json_at_all) {
    for (const char* const text :
         {"", " ", "{", R"({"pools": {}}})", R"({"pools": {},})", R"({'pools': {}})",
          "{\"pools\": {\"\xff\": {}}}", R"({"pools": {"\ud800": {}}})", "capacity = 7"}) {
        EXPECT_THAT(refusal(text), StartsWith("limits.json: is not JSON: ")) << text;
    }
    EXPECT_THAT(refusal("{\n\n  \"pools\" }"), HasSubstr("line 3, column 11")) << "the place is told";
}

TEST(refused_limits, what_follows_a_complete_configuration) {
    EXPECT_THAT(refusal(R"({"pools": {}} x)"), StartsWith("limits.json: is not JSON: "));
    using namespace std::string_view_literals;
    EXPECT_THAT(refusal("{\"pools\": {}}\0 and more"sv), StartsWith("limits.json: is not JSON: "))
        << "a zero byte does not hide the rest";
}

TEST(refused_limits, nesting_without_end) {
    for (const std::size_t depth : {std::size_t{100}, std::size_t{1'000'000}}) {
        EXPECT_THAT(refusal(R"({"pools": )" + std::string(depth, '[')), StartsWith("limits.json: "));
        EXPECT_THAT(refusal(R"({"pools": )" + std::string(depth, '[') + std::string(depth, ']') + "}"),
                    StartsWith("limits.json: "));
    }
}

TEST(damaged_limits, cut_off_at_any_byte_are_refused) {
    const std::string_view whole = complete;
    for (std::size_t length = 0; length != whole.size(); ++length) {
        EXPECT_THAT(refusal(whole.substr(0, length)), StartsWith("limits.json: is not JSON: ")) << length;
    }
}

TEST(damaged_limits, with_any_bit_flipped_are_refused_or_another_valid_configuration) {
    std::size_t taken = 0;
    for (std::size_t bit = 0; bit != complete.size() * 8; ++bit) {
        std::string text(complete);
        text[bit / 8] = static_cast<char>(text[bit / 8] ^ 1 << bit % 8);
        const std::string why = refusal(text); // anything but std::invalid_argument ends the test
        if (why.empty()) {
            ++taken;
            for (const auto& [name, limits] : parse_pool_limits(text, "limits.json")) {
                EXPECT_FALSE(name.empty());
                EXPECT_GE(limits.capacity.value_or(1), 1U);
                EXPECT_LE(limits.capacity.value_or(1), 0xffff'fffeU);
            }
        } else {
            EXPECT_THAT(why, StartsWith("limits.json: ")) << text;
        }
    }
    EXPECT_GT(taken, 0U) << "a digit for a digit";
    EXPECT_LT(taken, complete.size() * 4);
}

// ---- Files

class limits_file : public testing::Test {
protected:
    limits_file() { std::filesystem::create_directories(folder); }
    ~limits_file() override { std::filesystem::remove_all(folder); }

    std::filesystem::path write(std::string_view text) const {
        const auto file = folder / "limits.json";
        std::ofstream(file) << text;
        return file;
    }

    std::filesystem::path folder =
        std::filesystem::path(testing::TempDir()) /
        (std::string("handlepool ") + testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(limits_file, is_read) {
    const auto file = write(complete);
    const limits_by_pool limits = read_pool_limits(file);
    EXPECT_EQ(limits.at("ships").capacity, 10000U);
    EXPECT_EQ(limits.at("ships").source, file.string() + ": pools.ships");
}

TEST_F(limits_file, errors_begin_with_its_name) {
    const auto file = write(R"({"pools": 7})");
    EXPECT_THAT([&] { read_pool_limits(file); },
                ThrowsMessage<std::invalid_argument>(file.string() + ": pools: is 7, and must be an object"));
}

TEST_F(limits_file, one_that_is_not_there_is_named) {
    const auto file = folder / "missing.json";
    EXPECT_THAT([&] { read_pool_limits(file); },
                ThrowsMessage<std::system_error>(AllOf(HasSubstr(file.string()), HasSubstr("No such file"))));
}

TEST_F(limits_file, one_that_can_not_be_read_is_named) {
    EXPECT_THAT(
        [&] { read_pool_limits(folder); },
        ThrowsMessage<std::system_error>(AllOf(HasSubstr(folder.string()), HasSubstr("Is a directory"))));
}

TEST_F(limits_file, an_empty_one_is_refused) {
    const auto file = write("");
    EXPECT_THAT([&] { read_pool_limits(file); },
                ThrowsMessage<std::invalid_argument>(StartsWith(file.string() + ": is not JSON: ")));
}

TEST_F(limits_file, a_service_gives_its_limits_to_the_pools_that_it_names) {
    service world = service::from_json(write(complete));
    EXPECT_THAT(world.unused_limits(), ElementsAre("rockets", "ships"));
    EXPECT_EQ(world.size(), 0U) << "what a pool holds only the program knows";
    auto& ships = world.add<pool<int>>("ships", {.capacity = 5});
    EXPECT_EQ(ships.capacity(), 10000U);
    EXPECT_EQ(ships.stats().reuse_delay, 256U);
    EXPECT_EQ(ships.stats().slot_limit, 50000U);
    EXPECT_EQ(world.add<pool<int>>("others", {.capacity = 5}).capacity(), 5U);
    EXPECT_THAT(world.unused_limits(), ElementsAre("rockets"));
    EXPECT_EQ(world.add<raw_pool<>>("rockets", {}, raw_type{.size = 3}).capacity(), 7U);
    EXPECT_THAT(world.unused_limits(), IsEmpty());
    world.remove_pool("ships");
    EXPECT_THAT(world.unused_limits(), IsEmpty()) << "they were used";
}

TEST_F(limits_file, a_pool_that_its_limits_make_impossible_is_told_with_file_and_place) {
    const auto file = write(R"({"pools": {"ships": {"capacity": 100, "slot_limit": 50}}})");
    service world = service::from_json(file);
    EXPECT_THAT([&] { world.add<pool<int>>("ships"); },
                ThrowsMessage<std::invalid_argument>(
                    AllOf(StartsWith("pool 'ships': slot_limit = 50 is not allowed"),
                          HasSubstr("(limits from " + file.string() + ": pools.ships)"))));
    EXPECT_EQ(world.size(), 0U);
    EXPECT_THAT(world.unused_limits(), ElementsAre("ships"));
}

TEST_F(limits_file, other_options_of_a_service_made_from_it_stay) {
    std::string report;
    service_options options;
    options.report_leaks = [&](const std::string& text) { report = text; };
    std::uint64_t generation = 0;
    {
        service world = service::from_json(write(complete), options);
        const scoped_site here("maker");
        generation = world.add<pool<int>>("ships").emplace(1).generation();
    }
    EXPECT_THAT(report,
                MatchesRegex("pool 'ships' still holds 1 object; the oldest:\n  ships #0 generation " +
                             std::to_string(generation) +
                             ": alive; created in this frame by thread \"[^\"]+\" in maker\n"));
}

} // namespace
} // namespace handlepool::test

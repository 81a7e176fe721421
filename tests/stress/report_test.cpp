// Reports: their JSON keys and their text are what programs and people rely on.

#include "json_file.hpp"
#include "record_report.hpp"
#include "report.hpp"
#include "scratch_directory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <stdexcept>
#include <string>

namespace handlepool::stress {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

report some_report() {
    report result{.command = "churn", .parameters = {{"alive", "5000"}, {"seed", "1"}}};
    result.threads = 2;
    result.frames = 1000;
    result.seconds = 0.5;
    result.timed_operations = 1'234'000;
    result.alive_peak = 6000;
    for (int i = 100; i >= 1; --i) {
        result.compaction_times.push_back(std::chrono::microseconds(i));
    }
    result.all.operations = 1'234'567;
    result.all.live_lookups = 1000;
    result.all.stale_lookups = 3000;
    result.pool.alive = 5000;
    result.pool.created = 12'000;
    result.pool.destroyed = 7000;
    result.pool.bytes_resident = 3 << 20;
    return result;
}

report failed_report() {
    report result = some_report();
    result.all.stale_accepted = 25;
    result.all.content_mismatches = 1;
    for (int i = 0; i < 26; ++i) {
        result.all.violate("violation " + std::to_string(i));
    }
    return result;
}

std::set<std::string> keys_of(const nlohmann::json& json) {
    std::set<std::string> keys;
    for (const auto& item : json.items()) {
        keys.insert(item.key());
    }
    return keys;
}

TEST(report_json, has_these_keys) {
    const std::set<std::string> keys{"command",
                                     "parameters",
                                     "threads",
                                     "frames",
                                     "seconds",
                                     "operations",
                                     "operations_per_second",
                                     "operations_at_the_end",
                                     "alive_peak",
                                     "alive_final",
                                     "created",
                                     "destroyed",
                                     "live_lookups",
                                     "content_mismatches",
                                     "stale_lookups",
                                     "stale_accepted",
                                     "stale_accepted_bound_95",
                                     "compaction_microseconds",
                                     "bytes_resident",
                                     "violations",
                                     "violation_messages"};
    EXPECT_EQ(keys_of(to_json(some_report())), keys);
}

TEST(report_json, has_the_figures) {
    const nlohmann::json json = to_json(some_report());
    EXPECT_EQ(json["command"], "churn");
    EXPECT_EQ(json["parameters"]["alive"], "5000");
    EXPECT_EQ(json["threads"], 2);
    EXPECT_EQ(json["frames"], 1000);
    EXPECT_EQ(json["seconds"], 0.5);
    EXPECT_EQ(json["operations"], 1'234'000);
    EXPECT_EQ(json["operations_per_second"], 2'468'000.0);
    EXPECT_EQ(json["operations_at_the_end"], 567);
    EXPECT_EQ(json["alive_peak"], 6000);
    EXPECT_EQ(json["alive_final"], 5000);
    EXPECT_EQ(json["created"], 12'000);
    EXPECT_EQ(json["destroyed"], 7000);
    EXPECT_EQ(json["live_lookups"], 1000);
    EXPECT_EQ(json["stale_lookups"], 3000);
    EXPECT_EQ(json["stale_accepted"], 0);
    EXPECT_EQ(json["stale_accepted_bound_95"], 0.001);
    EXPECT_EQ(json["content_mismatches"], 0);
    EXPECT_EQ(json["bytes_resident"], 3 << 20);
    EXPECT_EQ(json["compaction_microseconds"]["median"], 51.0);
    EXPECT_EQ(json["compaction_microseconds"]["p99"], 99.0);
    EXPECT_EQ(json["compaction_microseconds"]["worst"], 100.0);
    EXPECT_EQ(json["violations"], 0);
    EXPECT_THAT(json["violation_messages"], IsEmpty());
}

TEST(report_json, has_the_violations) {
    const nlohmann::json json = to_json(failed_report());
    EXPECT_EQ(json["violations"], 26);
    EXPECT_EQ(json["stale_accepted"], 25);
    EXPECT_EQ(json["content_mismatches"], 1);
    EXPECT_EQ(json["violation_messages"].size(), 20U);
    EXPECT_EQ(json["violation_messages"][0], "violation 0");
    EXPECT_TRUE(json["stale_accepted_bound_95"].is_null()) << "the bound is for no accept at all";
}

TEST(report_json, knows_no_bound_without_tries) {
    report result = some_report();
    result.all.stale_lookups = 0;
    EXPECT_TRUE(to_json(result)["stale_accepted_bound_95"].is_null());
    EXPECT_THAT(to_text(result), Not(HasSubstr("confidence")));
    result.all.stale_lookups = 1;
    EXPECT_EQ(to_json(result)["stale_accepted_bound_95"], 1.0);
}

TEST(report_text, says_it_all) {
    EXPECT_EQ(to_text(some_report()),
              "run                          churn\n"
              "  alive                      5000\n"
              "  seed                       1\n"
              "threads                      2\n"
              "frames                       1,000\n"
              "seconds                      0.500\n"
              "operations                   1,234,000, 2.47 million a second\n"
              "operations at the end        567\n"
              "alive, peak and final        6,000, 5,000\n"
              "created                      12,000\n"
              "destroyed + alive            7,000 + 5,000\n"
              "compaction, microseconds     51.0 median, 99.0 99th percentile, 100.0 worst\n"
              "live look-ups                1,000\n"
              "content mismatches           0\n"
              "stale look-ups               3,000\n"
              "stale, wrongly accepted      0, below 1.0e-03 of all with 95 % confidence\n"
              "memory resident              3.0 MiB\n"
              "violations                   0\n"
              "result                       passed\n");
}

TEST(report_text, lists_the_first_violations) {
    const std::string text = to_text(failed_report());
    EXPECT_THAT(text, HasSubstr("stale, wrongly accepted      25\n"));
    EXPECT_THAT(text, HasSubstr("violations                   26\n  violation 0\n  violation 1\n"));
    EXPECT_THAT(text, HasSubstr("  violation 19\n  and 6 more\nresult                       FAILED\n"));
}

TEST(report_text, of_an_empty_run) {
    const std::string text = to_text(report{.command = "replay"});
    EXPECT_THAT(text, HasSubstr("operations                   0, 0.00 million a second\n"));
    EXPECT_THAT(text, HasSubstr("compaction, microseconds     0.0 median, 0.0 99th percentile, 0.0 worst\n"));
}

TEST(record_report, has_the_figures) {
    const record_options options{.command = {"program", "argument"}, .output = "some.zst"};
    record_result recorded{.exit_status = 0,
                           .summary = {.events = 10,
                                       .threads = 2,
                                       .allocations = 6,
                                       .frees = 4,
                                       .cross_thread_frees = 1,
                                       .peak_alive = 3,
                                       .duration_ns = 250'000'000},
                           .dropped_frees = 8,
                           .inferred_frees = 9,
                           .truncated = true};
    const nlohmann::json expected{{"command", "record"}, {"program", {"program", "argument"}},
                                  {"trace", "some.zst"}, {"events", 10},
                                  {"threads", 2},        {"allocations", 6},
                                  {"frees", 4},          {"cross_thread_frees", 1},
                                  {"alive_peak", 3},     {"seconds", 0.25},
                                  {"dropped_frees", 8},  {"inferred_frees", 9},
                                  {"truncated", true},   {"exit_status", 0},
                                  {"signal", nullptr}};
    EXPECT_EQ(to_json(recorded, options), expected);
    EXPECT_EQ(to_text(recorded, options),
              "some.zst: 10 events of 2 threads in 0.25 s, cut at the limit; 6 allocations, 4 "
              "frees, 1 of them by another thread, 3 objects alive at the peak\n");
    recorded.exit_status = 3;
    EXPECT_THAT(to_text(recorded, options), HasSubstr("program: exited with 3; its trace was written\n"));
    recorded.exit_status.reset();
    recorded.signal = SIGKILL;
    EXPECT_THAT(to_text(recorded, options),
                HasSubstr("program: was killed by signal 9; its trace was written\n"));
    EXPECT_TRUE(to_json(recorded, options)["exit_status"].is_null());
    EXPECT_EQ(to_json(recorded, options)["signal"], SIGKILL);
}

struct json_file_test : testing::Test {
    static std::string content_of(const std::filesystem::path& path) {
        std::ifstream stream(path);
        return {std::istreambuf_iterator<char>(stream), {}};
    }

    std::ptrdiff_t files() const { return std::distance(std::filesystem::directory_iterator(directory), {}); }

    const scratch_directory scratch;
    const std::filesystem::path& directory = scratch.path();
    std::filesystem::path path = directory / "result.json";
};

TEST_F(json_file_test, appears_when_it_is_whole) {
    {
        json_file file(path);
        EXPECT_FALSE(std::filesystem::exists(path));
        file.write({{"a", 1}});
    }
    EXPECT_EQ(content_of(path), "{\n  \"a\": 1\n}\n");
    EXPECT_EQ(files(), 1);
}

TEST_F(json_file_test, leaves_nothing_behind_when_it_is_not_written) {
    {
        const json_file file(path);
    }
    EXPECT_EQ(files(), 0);
}

TEST_F(json_file_test, replaces_an_old_one_only_when_it_is_whole) {
    std::ofstream(path) << "old";
    {
        const json_file file(path);
    }
    EXPECT_EQ(content_of(path), "old");
    json_file(path).write(1);
    EXPECT_EQ(content_of(path), "1\n");
    EXPECT_EQ(files(), 1);
}

TEST_F(json_file_test, says_why_it_cannot_be_written) {
    for (const auto& [bad, why] : {std::pair{directory / "no" / "file", "No such file or directory"},
                                   std::pair{directory, "Is a directory"}}) {
        try {
            json_file file(bad);
            ADD_FAILURE() << bad;
        } catch (const std::runtime_error& error) {
            EXPECT_EQ(error.what(), "--json: " + bad.string() + " cannot be written: " + why);
        }
    }
    EXPECT_THROW(json_file("/dev/full").write(1), std::runtime_error);
}

TEST_F(json_file_test, what_is_no_regular_file_stays_what_it_is) {
    const std::filesystem::path link = directory / "null";
    std::filesystem::create_symlink("/dev/null", link);
    json_file(link).write(1);
    EXPECT_TRUE(std::filesystem::is_symlink(link));
    EXPECT_TRUE(std::filesystem::is_character_file(link));
}

TEST_F(json_file_test, names_need_not_be_utf_8) {
    json_file(path).write({{"name", "\xff"}});
    EXPECT_THAT(content_of(path), StartsWith("{"));
    EXPECT_EQ(nlohmann::json::parse(content_of(path))["name"], "\xEF\xBF\xBD");
}

} // namespace
} // namespace handlepool::stress

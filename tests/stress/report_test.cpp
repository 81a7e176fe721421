// SPDX-License-Identifier: MIT

// Reports: their JSON keys and their text are what programs and people rely on.

#include "page/result_file.hpp"
#include "results/numbers.hpp"
#include "results/report.hpp"
#include "results/result.hpp"
#include "traces/record/recorder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <support/files/output_file.hpp>
#include <tests/support/scratch_directory.hpp>

#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace handlepool::stress {
namespace {

using testing::AllOf;
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
        result.latencies[static_cast<std::size_t>(operation::compact)].add(static_cast<std::uint64_t>(i) *
                                                                           1000);
        result.compactions.add(i);
    }
    result.all.operations = 1'234'567;
    result.all.checked = 1'234'567;
    result.all.live_lookups = 1000;
    result.all.stale_lookups = 3000;
    result.pool.alive = 5000;
    result.pool.created = 12'000;
    result.pool.destroyed = 7000;
    result.pool.bytes_resident = 3 << 20;
    result.pool.reuse_delay = 64;
    result.pool.smallest_reuse_distance = 70;
    result.reuse_distances.add(71);
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

nlohmann::json json_of(const report& run) {
    return to_json(result_of(run));
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
                                     "operations_checked",
                                     "sampled",
                                     "alive_peak",
                                     "alive_final",
                                     "created",
                                     "destroyed",
                                     "live_lookups",
                                     "content_mismatches",
                                     "stale_lookups",
                                     "stale_accepted",
                                     "stale_accepted_bound_95",
                                     "stale_explained",
                                     "forged_lookups",
                                     "neighbour_operations",
                                     "reuse_delay",
                                     "smallest_reuse_distance",
                                     "reuse_distances",
                                     "latencies_nanoseconds",
                                     "compaction_microseconds",
                                     "compaction_by_frame",
                                     "bytes_resident",
                                     "violations",
                                     "violation_messages"};
    EXPECT_EQ(keys_of(json_of(some_report())), keys);
}

TEST(report_json, has_the_figures) {
    const nlohmann::json json = json_of(some_report());
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
    EXPECT_EQ(json["operations_checked"], 1'234'567);
    EXPECT_EQ(json["sampled"], 1);
    EXPECT_EQ(json["smallest_reuse_distance"], 70);
    EXPECT_EQ(json["reuse_delay"], 64);
    EXPECT_NEAR(json["compaction_microseconds"]["median"].get<double>(), 50, 2);
    EXPECT_NEAR(json["compaction_microseconds"]["p99"].get<double>(), 99, 3);
    EXPECT_EQ(json["compaction_microseconds"]["worst"], 100.0);
    EXPECT_EQ(json["compaction_by_frame"]["frame"].size(), 100U);
    EXPECT_EQ(json["compaction_by_frame"]["microseconds"][0], 100.0);
    const nlohmann::json& compact = json["latencies_nanoseconds"]["compact"];
    EXPECT_EQ(compact["count"], 100);
    EXPECT_EQ(compact["worst"], 100'000);
    std::uint64_t counted = 0;
    for (const auto& count : compact["counts"]) {
        counted += count.get<std::uint64_t>();
    }
    EXPECT_EQ(counted, 100U);
    EXPECT_EQ(compact["upper"].size(), compact["counts"].size());
    EXPECT_FALSE(json["latencies_nanoseconds"].contains("emplace")) << "there was none";
    EXPECT_EQ(json["violations"], 0);
    EXPECT_THAT(json["violation_messages"], IsEmpty());
}

TEST(report_json, has_the_violations) {
    const nlohmann::json json = json_of(failed_report());
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
    EXPECT_TRUE(json_of(result)["stale_accepted_bound_95"].is_null());
    EXPECT_THAT(to_text(result), Not(HasSubstr("confidence")));
    result.all.stale_lookups = 1;
    EXPECT_EQ(json_of(result)["stale_accepted_bound_95"], 1.0);
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
              "checked in histories         1,234,567\n"
              "alive, peak and final        6,000, 5,000\n"
              "created                      12,000\n"
              "destroyed + alive            7,000 + 5,000\n"
              "live look-ups                1,000\n"
              "content mismatches           0\n"
              "stale look-ups               3,000\n"
              "stale, wrongly accepted      0, below 1.0e-03 of all with 95 % confidence\n"
              "smallest reuse distance      70, at least 64 wanted\n"
              "memory resident              3.0 MiB\n"
              "latency                          median        99 %      99.9 %       worst\n"
              "  compact                       50.2 us    100.0 us    100.0 us    100.0 us\n"
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
    EXPECT_THAT(text, Not(HasSubstr("  compact")));
    EXPECT_THAT(text, Not(HasSubstr("reuse distance")));
}

TEST(report_text, tells_how_to_run_it_again_when_it_failed) {
    report result = failed_report();
    result.again = "handlepool-stress run stale --seed 7";
    EXPECT_THAT(to_text(result),
                HasSubstr("to run it again              handlepool-stress run stale --seed 7\n"));
    EXPECT_EQ(json_of(result)["again"], result.again);
}

TEST(report_sum, is_that_of_a_longer_run) {
    report sum = some_report();
    sum.over_time.add({0.5, 1'234'000, 10});
    report next = failed_report();
    next.again = "with another seed";
    next.over_time.add({0.25, 100, 20});
    next.pool.smallest_reuse_distance = 65;
    sum += next;
    EXPECT_FALSE(sum.passed());
    EXPECT_EQ(sum.again, "with another seed");
    EXPECT_EQ(sum.seconds, 1.0);
    EXPECT_EQ(sum.frames, 2000U);
    EXPECT_EQ(sum.timed_operations, 2'468'000U);
    EXPECT_EQ(sum.all.stale_lookups, 6000U);
    EXPECT_EQ(sum.all.violations, 26U);
    EXPECT_EQ(sum.pool.created, 24'000U);
    EXPECT_EQ(sum.pool.smallest_reuse_distance, 65U) << "the one that is nearest to its limit";
    EXPECT_EQ(sum.latency(operation::compact).count(), 200U);
    ASSERT_EQ(sum.over_time.points().size(), 2U);
    EXPECT_EQ(sum.over_time.points()[1].seconds, 0.75);
    EXPECT_EQ(sum.over_time.points()[1].operations, 1'234'100U);
    report empty;
    empty += some_report();
    EXPECT_EQ(json_of(empty), json_of(some_report()));
}

TEST(report_sum, fails_however_large_the_sum_of_the_violations) {
    report sum = failed_report();
    sum.all.violations = std::uint64_t{1} << 63;
    sum += report(sum);
    EXPECT_FALSE(sum.passed());
    EXPECT_THAT(to_text(sum),
                HasSubstr("violations                   at least 18,446,744,073,709,551,615\n"));
}

TEST(report_sum, of_pools_one_after_the_other_ends_with_the_last_of_them) {
    report result;
    pool_stats stats;
    stats.name = "pool";
    for (const std::size_t alive : {20'000U, 1000U, 16U}) {
        stats.alive = alive;
        stats.created = 30'000;
        stats.destroyed = stats.created - alive;
        result.add_pool(stats);
        EXPECT_EQ(result.pool.alive, alive);
        EXPECT_GE(result.alive_peak, result.pool.alive);
        EXPECT_EQ(result.pool.destroyed + result.pool.alive, result.pool.created);
    }
    EXPECT_EQ(result.alive_peak, 20'000U);
}

TEST(run_report_json, is_a_document_of_scenarios) {
    const std::vector<report> results{some_report(), failed_report()};
    const nlohmann::json json = to_json(document_of(results, "handlepool-stress run all",
                                                    std::chrono::system_clock::from_time_t(1'700'000'000)));
    EXPECT_EQ(json["command_line"], "handlepool-stress run all");
    EXPECT_EQ(json["scenarios"].size(), 2U);
    EXPECT_EQ(json["scenarios"][1], json_of(failed_report()));
    EXPECT_GE(json["machine"]["processors"], 1);
    EXPECT_THAT(json["machine"]["compiler"].get<std::string>(), testing::MatchesRegex(".+ [0-9.]+"));
    EXPECT_THAT(json["machine"]["build"].get<std::string>(), HasSubstr("contracts"));
    EXPECT_EQ(json["started"], "2023-11-14T22:13:20Z");
}

TEST(run_report_json, is_read_back_as_it_was_written) {
    report full = some_report();
    full.summary = "what it does";
    full.again = "handlepool-stress run churn";
    full.facts = {{"longest wait", "38"}};
    full.over_time.add({0.25, 100, 20});
    report empty{.command = "replay"};
    const nlohmann::json json = to_json(document_of(std::vector{full, failed_report(), empty}, "typed",
                                                    std::chrono::system_clock::from_time_t(1'700'000'000)));
    for (const char* const key : {"name", "summary", "again", "facts", "timeline"}) {
        EXPECT_TRUE(json["scenarios"][0].contains(key)) << key;
        EXPECT_FALSE(json["scenarios"][2].contains(key)) << key;
    }
    EXPECT_EQ(to_json(page::parse_result_file("result.json", json.dump()).document), json);
    const nlohmann::json read_alone = json_of(full);
    EXPECT_EQ(to_json(page::parse_result_file("result.json", read_alone.dump()).document)["scenarios"][0],
              read_alone);
}

TEST(report_json, writes_whole_numbers_without_a_point) {
    const nlohmann::json json = json_of(some_report());
    EXPECT_TRUE(json["latencies_nanoseconds"]["compact"]["worst"].is_number_unsigned());
    EXPECT_TRUE(json["reuse_distances"]["upper"][0].is_number_unsigned());
    EXPECT_EQ(json["seconds"].dump(), "0.5");
}

TEST(run_report_text, sums_up_and_lists_what_failed) {
    const std::vector<report> results{some_report(), failed_report()};
    const std::string text = summary_of(results);
    EXPECT_THAT(text, HasSubstr("operations                   2,469,134\n"));
    EXPECT_THAT(text, HasSubstr("violations                   26\n"));
    EXPECT_THAT(text, HasSubstr("failed                       churn\n"));
    EXPECT_THAT(text, testing::EndsWith("result                       FAILED\n"));
    EXPECT_THAT(summary_of(std::span(results).first(1)),
                testing::EndsWith("result                       passed\n"));
    EXPECT_EQ(table_head().size(), table_row(results[0]).size());
    EXPECT_LE(table_head().size(), 80U) << "with the end of the line";
    EXPECT_THAT(table_row(results[1]), AllOf(StartsWith("churn "), HasSubstr(" 26\n")));
    report longest = some_report();
    longest.command = "race-erase, stable";
    EXPECT_EQ(table_head().size(), table_row(longest).size());
}

TEST(run_report_text, fails_however_large_the_sum_of_the_violations) {
    report half = failed_report();
    half.all.violations = std::uint64_t{1} << 63;
    const std::string text = summary_of(std::vector<report>{half, half});
    EXPECT_THAT(text, HasSubstr("violations                   at least 18,446,744,073,709,551,615\n"));
    EXPECT_THAT(text, testing::EndsWith("result                       FAILED\n"));
}

TEST(text, of_numbers) {
    EXPECT_EQ(grouped(0), "0");
    EXPECT_EQ(grouped(999), "999");
    EXPECT_EQ(grouped(1'234'567), "1,234,567");
    EXPECT_EQ(duration(0), "0 ns");
    EXPECT_EQ(duration(999), "999 ns");
    EXPECT_EQ(duration(1234), "1.2 us");
    EXPECT_EQ(duration(12'345'678), "12.3 ms");
    EXPECT_EQ(duration(1'234'567'890), "1.23 s");
}

TEST(record_report, has_the_figures) {
    const record_options options{.output = "some.zst"};
    record_result recorded{.command = {"program", "argument"},
                           .exit_status = 0,
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
    const nlohmann::json expected{{"command", "record"},
                                  {"program", {"program", "argument"}},
                                  {"trace", "some.zst"},
                                  {"events", 10},
                                  {"threads", 2},
                                  {"allocations", 6},
                                  {"frees", 4},
                                  {"cross_thread_frees", 1},
                                  {"alive_peak", 3},
                                  {"seconds", 0.25},
                                  {"dropped_frees", 8},
                                  {"inferred_frees", 9},
                                  {"truncated", true},
                                  {"had_room", true},
                                  {"replaced_by", nullptr},
                                  {"forks", 0},
                                  {"new_without_malloc", nullptr},
                                  {"exit_status", 0},
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
    recorded.signal.reset(); // recovered
    EXPECT_EQ(
        to_text(recorded, options),
        "some.zst: 10 events of 2 threads in 0.25 s, as far as it was left; 6 allocations, 4 frees, 1 of "
        "them by another thread, 3 objects alive at the peak\n");
    recorded.had_room = false;
    recorded.replaced_by = "another";
    EXPECT_EQ(to_text(recorded, options),
              "some.zst: 10 events of 2 threads in 0.25 s, cut; 6 allocations, 4 frees, 1 of them by another "
              "thread, 3 objects alive at the peak\n"
              "program: the recording ended early, because the disk had no room for more events\n"
              "program: replaced itself by another, which was not recorded; record that program itself\n");
    EXPECT_EQ(to_json(recorded, options)["had_room"], false);
    EXPECT_EQ(to_json(recorded, options)["replaced_by"], "another");
}

} // namespace
} // namespace handlepool::stress

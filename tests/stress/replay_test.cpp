// SPDX-License-Identifier: MIT

// Replays of small traces whose figures are known, and of the recorded ones.

#include "results/report.hpp"
#include "traces/replay.hpp"
#include "traces/trace.hpp"
#include "traces/trace_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tests/support/paths.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace handlepool::stress {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr std::uint64_t ms = 1'000'000;
constexpr std::uint64_t ways_to_look = 3; // to look a dead object up: contains, find and erase

trace made_of(std::vector<trace_event> events) {
    const std::uint64_t end = events.empty() ? 0 : events.back().time_ns();
    return {.header = {.command = {"made", "by hand"}, .duration_ns = end}, .events = std::move(events)};
}

// What every replay without a violation has to fulfill.
void expect_consistent(const report& result, const trace& recorded) {
    const trace_summary sum = summarize(recorded);
    EXPECT_TRUE(result.passed()) << to_text(result);
    EXPECT_EQ(result.all.created, sum.allocations);
    EXPECT_EQ(result.all.erased, sum.frees);
    EXPECT_EQ(result.pool.created, sum.allocations);
    EXPECT_EQ(result.pool.destroyed, sum.frees);
    EXPECT_EQ(result.pool.alive, sum.allocations - sum.frees);
    EXPECT_LE(result.alive_peak, sum.peak_alive);
    EXPECT_EQ(result.latency(operation::compact).count(), result.frames + 1) << "one at the end";
    EXPECT_EQ(result.all.stale_accepted, 0U);
    EXPECT_EQ(result.all.content_mismatches, 0U);
    // Each erasure looks for the object before and after it, and at the end each object is looked for.
    EXPECT_GE(result.all.live_lookups, sum.allocations);
    EXPECT_GE(result.all.stale_lookups, 2 * ways_to_look * sum.frees);
    EXPECT_EQ(result.all.operations,
              result.all.created + result.all.erased + result.all.live_lookups + result.all.stale_lookups);
    EXPECT_EQ(result.timed_operations,
              result.all.operations - (sum.allocations - sum.frees) - ways_to_look * sum.frees);
    EXPECT_EQ(result.all.checked, result.all.operations);
}

report replay_checked(const trace& recorded, const replay_options& options) {
    const report result = replay(recorded, options);
    expect_consistent(result, recorded);
    return result;
}

// `threads` threads that allocate, and free what any of them has allocated.
trace random_trace(std::size_t events, std::uint32_t threads) {
    std::mt19937 random(1);
    std::vector<trace_event> made;
    std::vector<std::uint32_t> alive;
    std::uint32_t objects = 0;
    for (std::size_t i = 0; i < events; ++i) {
        const auto thread =
            i < threads ? static_cast<std::uint32_t>(i) : static_cast<std::uint32_t>(random() % threads);
        if (i < threads || alive.empty() || random() % 2 == 0) {
            made.push_back(trace_event::allocate(i * 1000, thread, objects, 8));
            alive.push_back(objects++);
        } else {
            std::swap(alive[random() % alive.size()], alive.back());
            made.push_back(trace_event::free(i * 1000, thread, alive.back()));
            alive.pop_back();
        }
    }
    return made_of(std::move(made));
}

TEST(replay, frees_by_another_thread) {
    const trace recorded = made_of({trace_event::allocate(0, 0, 0, 8), trace_event::allocate(0, 1, 1, 8),
                                    trace_event::free(0, 1, 0), trace_event::free(0, 0, 1)});
    const report result = replay_checked(recorded, {.lookups = 0});
    EXPECT_EQ(result.command, "replay");
    EXPECT_EQ(result.threads, 2U);
    EXPECT_EQ(result.frames, 1U);
    EXPECT_EQ(result.alive_peak, 0U) << "at the end of the only frame";
    EXPECT_EQ(result.all.live_lookups, 2U);
    EXPECT_EQ(result.all.stale_lookups, 4 * ways_to_look);
}

TEST(replay, threads_take_over_those_of_others) {
    const trace recorded = random_trace(20'000, 7);
    for (const std::size_t threads : {1U, 2U, 3U, 7U}) {
        EXPECT_EQ(replay_checked(recorded, {.threads = threads, .frame_ms = 1}).threads, threads);
    }
}

TEST(replay, threads_share_the_objects_of_one) {
    const trace recorded = random_trace(20'000, 6);
    for (const std::size_t threads : {8U, 12U, 64U, 200U}) {
        EXPECT_EQ(replay_checked(recorded, {.threads = threads, .frame_ms = 1}).threads, threads);
    }
}

TEST(replay, a_chain_from_thread_to_thread) {
    std::vector<trace_event> events;
    for (std::uint32_t i = 0; i < 1000; ++i) { // each frees what the one before has allocated
        events.push_back(trace_event::allocate(i * 1000, i % 4, i, 8));
        if (i >= 3) {
            events.push_back(trace_event::free(i * 1000, (i + 1) % 4, i - 1));
        }
    }
    replay_checked(made_of(std::move(events)), {.frame_ms = 0.1});
}

TEST(replay, an_empty_trace) {
    for (const std::size_t threads : {0U, 3U}) {
        const report result = replay_checked(trace{}, {.threads = threads});
        EXPECT_EQ(result.frames, 0U);
        EXPECT_EQ(result.threads, std::max<std::size_t>(threads, 1));
        EXPECT_EQ(result.all.operations, 0U);
        EXPECT_EQ(result.pool.alive, 0U);
    }
}

TEST(replay, objects_that_are_never_freed) {
    const trace recorded = made_of({trace_event::allocate(0, 0, 0, 8), trace_event::allocate(0, 0, 1, 8),
                                    trace_event::allocate(0, 0, 2, 8), trace_event::free(20 * ms, 0, 1)});
    const report result = replay_checked(recorded, {.frame_ms = 10, .lookups = 0});
    EXPECT_EQ(result.frames, 3U);
    EXPECT_EQ(result.alive_peak, 3U);
    EXPECT_EQ(result.pool.alive, 2U);
}

TEST(replay, frames_without_events) {
    const trace recorded =
        made_of({trace_event::allocate(25 * ms, 0, 0, 8), trace_event::allocate(25 * ms, 1, 1, 8),
                 trace_event::free(995 * ms, 0, 0)});
    const report result = replay_checked(recorded, {.frame_ms = 10, .lookups = 5});
    EXPECT_EQ(result.frames, 100U);
    EXPECT_EQ(result.alive_peak, 2U);
    // Frames 3 to 98 find an object of each thread. In the last one thread 0 has none any more.
    EXPECT_EQ(result.all.live_lookups, 5U * (96 + 97) + 1 + 1);
    EXPECT_EQ(result.all.stale_lookups, 2 * ways_to_look);
}

TEST(replay, dead_objects_are_looked_up_in_later_frames) {
    const trace recorded = made_of({trace_event::allocate(0, 0, 0, 8), trace_event::free(0, 0, 0),
                                    trace_event::allocate(95 * ms, 0, 1, 8)});
    const report result = replay_checked(recorded, {.frame_ms = 10, .lookups = 5});
    EXPECT_EQ(result.frames, 10U);
    EXPECT_EQ(result.all.stale_lookups, (5U * 9 + 2) * ways_to_look);
}

TEST(replay, one_frame_may_hold_more_than_is_ever_alive) {
    std::vector<trace_event> events;
    for (std::uint32_t i = 0; i < 5000; ++i) {
        events.push_back(trace_event::allocate(0, 0, i, 8));
        events.push_back(trace_event::free(0, 0, i));
    }
    const report result = replay_checked(made_of(std::move(events)), {});
    EXPECT_EQ(result.pool.created, 5000U);
}

TEST(replay, the_seed_decides_what_is_asked) {
    const trace recorded = random_trace(20'000, 5);
    const report first = replay(recorded, {.frame_ms = 0.5, .seed = 42});
    const report second = replay(recorded, {.frame_ms = 0.5, .seed = 42});
    EXPECT_EQ(first.all.operations, second.all.operations);
    EXPECT_EQ(first.all.live_lookups, second.all.live_lookups);
    EXPECT_EQ(first.all.stale_lookups, second.all.stale_lookups);
    EXPECT_EQ(first.alive_peak, second.alive_peak);
    const named_texts parameters{
        {"executor", "tbb"}, {"pools", "3"},    {"placement", "dense"}, {"program", "made by hand"},
        {"frame_ms", "0.5"}, {"lookups", "64"}, {"seed", "42"}};
    EXPECT_EQ(first.parameters, parameters);
}

TEST(replay, a_sample_of_the_histories) {
    const report result = replay(random_trace(20'000, 5), {.frame_ms = 0.5, .sample = 8});
    EXPECT_TRUE(result.passed()) << to_text(result);
    EXPECT_GT(result.all.checked, result.all.operations / 100);
    EXPECT_LT(result.all.checked, result.all.operations / 3);
    EXPECT_NE(to_text(result).find("those of one slot in 8"), std::string::npos);
}

TEST(replay, too_many_frames_are_refused) {
    const trace recorded = made_of({trace_event::allocate(trace_event::max_time_ns, 0, 0, 8)});
    EXPECT_THAT([&] { replay(recorded, {.frame_ms = 0.001}); },
                ThrowsMessage<std::invalid_argument>(AllOf(HasSubstr("--frame-ms: '0.001' would cut"),
                                                           HasSubstr("allowed: at most 1,000,000, "))));
}

TEST(replay, the_shortest_frame_that_the_error_names_is_allowed) {
    const trace recorded = made_of({trace_event::allocate(93'000 * ms, 0, 0, 8)});
    EXPECT_THAT([&] { replay(recorded, {.threads = 1024, .frame_ms = 0.001}); },
                ThrowsMessage<std::invalid_argument>(
                    "--frame-ms: '0.001' would cut the 93 s of the trace into 93,000,001 frames for 1024 "
                    "threads (allowed: at most 97,656, which is 0.953 ms and more)"));
    EXPECT_LE(93'000 / 0.953 + 1, 97'656);
    EXPECT_GT(93'000 / 0.952 + 1, 97'656);
}

TEST(replay, recorded_traces) {
    for (const char* file : {"fd.zst", "povray.zst"}) {
        const trace recorded =
            read_trace(std::filesystem::path(support::paths::sources) / "stress/traces" / file);
        for (const placement_kind placement : placements) {
            const report result = replay_checked(recorded, {.service = {.placement = placement}});
            EXPECT_EQ(result.threads, summarize(recorded).threads) << file;
        }
    }
}

TEST(replay, a_recorded_trace_on_far_more_threads_than_processors) {
    const trace recorded =
        read_trace(std::filesystem::path(support::paths::sources) / "stress/traces" / "povray.zst");
    EXPECT_EQ(replay_checked(recorded, {.threads = 64}).threads, 64U);
}

} // namespace
} // namespace handlepool::stress

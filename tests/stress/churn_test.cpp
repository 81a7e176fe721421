// SPDX-License-Identifier: MIT

// The synthetic frame loop: its figures follow from its options.

#include "results/report.hpp"
#include "run/churn.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace handlepool::stress {
namespace {

constexpr std::uint64_t ways = 3; // to look a dead object up: contains, find and erase

// Fought for in each frame, by all threads.
std::uint64_t contested(const churn_options& options) {
    return std::min<std::size_t>(64, options.alive);
}

// Runs it and checks all that does not depend on how the options are divided among the threads.
report churn_checked(const churn_options& options) {
    const report result = churn(options);
    EXPECT_TRUE(result.passed()) << to_text(result);
    EXPECT_EQ(result.command, "churn");
    EXPECT_EQ(result.threads, options.threads);
    EXPECT_EQ(result.frames, options.frames);
    EXPECT_EQ(result.alive_peak, options.alive);
    EXPECT_EQ(result.pool.alive, options.alive);
    EXPECT_EQ(result.pool.created, result.all.created);
    EXPECT_EQ(result.pool.destroyed, result.all.erased);
    EXPECT_EQ(result.all.created, result.all.erased + options.alive);
    EXPECT_EQ(result.all.content_mismatches, 0U);
    EXPECT_EQ(result.all.stale_accepted, 0U);
    EXPECT_EQ(result.latency(operation::compact).count(), options.frames + 1) << "one at the end";
    EXPECT_EQ(result.all.checked, result.all.operations);
    EXPECT_EQ(result.latency(operation::emplace).count(), result.all.created);
    // All threads try to erase what is contested, and one of them succeeds.
    const std::uint64_t lost = contested(options) * (options.threads - 1) * options.frames;
    EXPECT_EQ(result.all.operations, result.all.created + result.all.erased + lost + result.all.live_lookups +
                                         result.all.stale_lookups);
    EXPECT_EQ(result.timed_operations, result.all.operations - options.alive)
        << "each object is looked up at the end";
    return result;
}

// The same where each thread's part is a whole number.
void expect_exactly(const churn_options& options, std::uint64_t replaced_per_frame) {
    const report result = churn_checked(options);
    const std::uint64_t replaced = replaced_per_frame * (options.frames - 1); // the first frame creates
    EXPECT_EQ(result.all.created, options.alive + replaced + contested(options) * options.frames);
    EXPECT_EQ(result.all.live_lookups,
              replaced + options.lookups * options.threads * options.frames + options.alive);
    if (replaced_per_frame >= options.threads) {
        EXPECT_EQ(result.all.stale_lookups,
                  ways * (replaced + options.lookups * options.threads * (options.frames - 1)));
    }
}

TEST(churn, figures_add_up_with_any_number_of_threads) {
    for (const std::size_t threads : {1U, 2U, 3U, 8U, 64U}) {
        expect_exactly({.threads = threads, .alive = 64 * 3 * 10, .churn = 0.5, .frames = 10, .lookups = 20},
                       960);
    }
}

TEST(churn, the_figures_do_not_depend_on_the_placement) {
    for (const placement_kind placement : placements) {
        expect_exactly({.threads = 3,
                        .alive = 64 * 3 * 10,
                        .churn = 0.5,
                        .frames = 10,
                        .lookups = 20,
                        .service = {.placement = placement}},
                       960);
    }
}

TEST(churn, nothing_is_replaced) {
    expect_exactly({.threads = 3, .alive = 1000, .churn = 0, .frames = 20, .lookups = 10}, 0);
}

TEST(churn, everything_is_replaced) {
    expect_exactly({.threads = 3, .alive = 1000, .churn = 1, .frames = 20, .lookups = 10}, 1000);
}

TEST(churn, one_object) {
    expect_exactly({.threads = 1, .alive = 1, .churn = 1, .frames = 50}, 1);
    for (const std::size_t threads : {2U, 16U}) { // most of them have nothing to do
        const report result = churn_checked({.threads = threads, .alive = 1, .churn = 1, .frames = 50});
        EXPECT_EQ(result.all.created, 1U + 49 + 50);
    }
}

TEST(churn, small_parts_are_not_lost) {
    const report result =
        churn_checked({.threads = 1, .alive = 5, .churn = 0.125, .frames = 17, .lookups = 0});
    EXPECT_EQ(result.all.created, 5U + 10 + 5 * 17) << "16 frames with 5/8 of an object each";
}

TEST(churn, one_frame) {
    expect_exactly({.threads = 2, .alive = 100, .churn = 1, .frames = 1, .lookups = 0}, 100);
}

TEST(churn, the_memory_of_dead_objects_is_bounded) {
    // Above it, old handles are forgotten at random: all figures stay as they are.
    expect_exactly({.threads = 1, .alive = 40'000, .churn = 1, .frames = 6, .lookups = 100}, 40'000);
}

TEST(churn, the_seed_decides_what_is_asked) {
    const churn_options options{.threads = 3, .alive = 1001, .churn = 0.3, .frames = 30, .seed = 42};
    const report first = churn(options);
    const report second = churn(options);
    EXPECT_EQ(first.all.created, second.all.created);
    EXPECT_EQ(first.all.operations, second.all.operations);
    EXPECT_EQ(first.all.live_lookups, second.all.live_lookups);
    EXPECT_EQ(first.all.stale_lookups, second.all.stale_lookups);
    const named_texts parameters{{"executor", "tbb"}, {"pools", "3"},   {"placement", "dense"},
                                 {"alive", "1001"},   {"churn", "0.3"}, {"lookups", "256"},
                                 {"seed", "42"}};
    EXPECT_EQ(first.parameters, parameters);
}

} // namespace
} // namespace handlepool::stress

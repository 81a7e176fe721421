// SPDX-License-Identifier: MIT
#include <handlepool/executor.hpp>
#include <handlepool/executor_ref.hpp>
#include <handlepool/pool.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

TEST(inline_executor_test, calls_the_body_once_for_all_items) {
    std::vector<std::pair<std::size_t, std::size_t>> calls;
    inline_executor{}.for_ranges(
        100, 10, [&](std::size_t first, std::size_t last) { calls.emplace_back(first, last); });
    EXPECT_EQ(calls, (std::vector<std::pair<std::size_t, std::size_t>>{{0, 100}}));
}

TEST(inline_executor_test, does_not_call_the_body_for_no_items) {
    int calls = 0;
    inline_executor{}.for_ranges(0, 10, [&](std::size_t, std::size_t) { ++calls; });
    EXPECT_EQ(calls, 0);
}

struct no_executor {};
struct wrong_arguments {
    template <class Body>
    void for_ranges(Body&& body);
};
static_assert(executor<inline_executor> && executor<const inline_executor>);
static_assert(!executor<no_executor> && !executor<wrong_arguments>);

// ---- What an executor is told

TEST(compaction_phase_test, each_has_a_name) {
    EXPECT_EQ(name_of(compaction_phase::collect_removals), "collect removals");
    EXPECT_EQ(name_of(compaction_phase::destroy), "destroy");
    EXPECT_EQ(name_of(compaction_phase::sweep), "sweep");
    EXPECT_EQ(name_of(compaction_phase::collect_newborns), "collect newborns");
    EXPECT_EQ(name_of(compaction_phase::place_newborns), "place newborns");
    EXPECT_EQ(name_of(compaction_phase::fill_holes), "fill holes");
    EXPECT_EQ(name_of(compaction_phase::report_births), "report births");
    EXPECT_EQ(name_of(compaction_phase::give_back), "give back");
}

/// Notes what it is told, and whether it runs a loop where none belongs.
struct listening_executor {
    template <class Body>
    void for_ranges(std::size_t count, std::size_t grain, Body&& body) {
        EXPECT_TRUE(in_phase) << "after " << testing::PrintToString(heard);
        inline_executor{}.for_ranges(count, grain, body);
    }
    void begin_compaction(std::string_view pool) { heard.push_back("begin " + std::string(pool)); }
    void begin_phase(compaction_phase phase) {
        heard.emplace_back(name_of(phase));
        in_phase = true;
    }
    void end_compaction(const compaction_stats& stats) {
        heard.push_back("end");
        in_phase = false;
        last = stats;
    }

    std::vector<std::string> heard;
    bool in_phase = false;
    compaction_stats last;
};
struct deaf_executor : inline_executor {
    void begin_compaction(std::string_view) { ADD_FAILURE() << "it has not all functions of a listener"; }
};
static_assert(phase_listener<listening_executor>);
static_assert(!phase_listener<inline_executor> && !phase_listener<deaf_executor>);

using testing::ElementsAre;

TEST(phase_listener_test, hears_the_phases_of_a_compaction_in_order) {
    pool<int> ships({.name = "ships", .capacity = 100});
    std::vector<handle<int>> handles;
    ships.emplace_n(10, std::back_inserter(handles), 7);
    ships.compact();
    ships.erase(handles[0]);
    ships.erase(handles[1]);
    ships.erase(handles[2]);
    ships.emplace(1);
    listening_executor executor;
    const compaction_stats done = ships.compact(executor);
    EXPECT_THAT(executor.heard, ElementsAre("begin ships", "collect removals", "destroy", "collect newborns",
                                            "place newborns", "fill holes", "give back", "end"));
    EXPECT_EQ(executor.last.removed, 3U);
    EXPECT_EQ(executor.last.born, 1U);
    EXPECT_EQ(executor.last.moved, done.moved);
    EXPECT_EQ(executor.last.size, 8U);
    EXPECT_EQ(executor.last.duration, done.duration);
}

TEST(phase_listener_test, hears_of_the_sweep_when_there_is_one) {
    pool<int> ships({.name = "ships", .capacity = 100, .removal_queue_size = 1});
    std::vector<handle<int>> handles;
    ships.emplace_n(4, std::back_inserter(handles), 7);
    ships.compact();
    ships.erase(handles);
    listening_executor executor;
    ships.compact(executor);
    EXPECT_THAT(executor.heard,
                ElementsAre("begin ships", "collect removals", "destroy", "sweep", "collect newborns",
                            "place newborns", "fill holes", "give back", "end"));
    EXPECT_EQ(executor.last.swept, 3U);
}

TEST(phase_listener_test, hears_the_same_through_a_reference_and_from_try_compact) {
    pool<int> ships({.name = "ships", .capacity = 100});
    ships.emplace(1);
    listening_executor direct;
    ships.compact(direct);
    ships.reset();
    ships.emplace(1);
    listening_executor referred;
    EXPECT_TRUE(ships.try_compact(executor_ref(referred)));
    EXPECT_EQ(referred.heard, direct.heard);
    EXPECT_EQ(referred.last.born, 1U);
}

TEST(phase_listener_test, hears_nothing_of_a_compaction_that_does_not_start) {
    pool<int> ships({.name = "ships", .capacity = 100});
    listening_executor executor;
    const auto guard = ships.access();
    EXPECT_THROW(ships.compact(executor), compaction_conflict);
    EXPECT_EQ(ships.try_compact(executor), std::nullopt);
    EXPECT_THAT(executor.heard, ElementsAre());
}

TEST(phase_listener_test, one_that_lacks_a_function_is_told_nothing) {
    pool<int> ships({.name = "ships", .capacity = 100});
    ships.emplace(1);
    deaf_executor executor;
    EXPECT_EQ(ships.compact(executor).born, 1U);
}

} // namespace
} // namespace handlepool::test

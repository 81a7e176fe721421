// SPDX-License-Identifier: MIT
#include <handlepool/handle.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/thread_executor.hpp>
#include <handlepool/timeline.hpp>

#include <gtest/gtest.h>
#include <tests/support/failing_new.hpp>

#include <cstddef>
#include <iterator>
#include <string>
#include <type_traits>
#include <vector>

// What a timeline does when memory runs out while a compaction is recorded, which can't stop half-way.
namespace handlepool::test {
namespace {

constexpr int objects = 5'000; // enough to be divided among threads

// Too long to be kept in a string itself.
const std::string name = "a name of more characters than a string has room for";

/// What an execution of `round` records and drops, together, whatever fails.
class recording_test : public testing::TestWithParam<shortage> {
protected:
    /// With all phases but a sweep, in which each loop has something to do.
    template <class Executor>
    void expect_compactions_to_go_on(unsigned threads) {
        std::size_t expected = 0;
        const std::size_t allocations =
            with_each_allocation_failing(GetParam(), [&](memory_shortage& memory) {
                timeline records;
                traced_executor<Executor> executor = make<Executor>(records, threads);
                pool<int> ships({.name = name, .capacity = 2 * objects});
                std::vector<handle<int>> handles;
                ships.emplace_n(objects, std::back_inserter(handles), 7);
                ships.compact();
                handles.resize(handles.size() / 2);
                ships.erase(handles);
                ships.emplace(8);

                memory.begin();
                const compaction_stats done = ships.compact(executor);
                memory.end();
                EXPECT_EQ(done.removed, handles.size());
                EXPECT_EQ(done.born, 1U);
                EXPECT_EQ(ships.items().size(), ships.size());
                EXPECT_EQ(records.dropped() != 0, memory.came());
                if (threads == 1) { // more of them divide the loops as it comes
                    expected = expected == 0 ? records.size() + records.dropped() : expected;
                    EXPECT_EQ(records.size() + records.dropped(), expected);
                }
            });
        EXPECT_GT(allocations, 6U) << "of the spans alone";
    }

private:
    template <class Executor>
    static traced_executor<Executor> make(timeline& records, unsigned threads) {
        if constexpr (std::is_constructible_v<Executor, unsigned>) {
            return traced_executor<Executor>(records, threads);
        } else {
            return traced_executor<Executor>(records);
        }
    }
};

INSTANTIATE_TEST_SUITE_P(memory, recording_test, both_shortages, name_of_shortage);

TEST_P(recording_test, a_traced_compaction_goes_on_when_memory_runs_out_at_any_allocation) {
    expect_compactions_to_go_on<inline_executor>(1);
}

TEST_P(recording_test, a_traced_compaction_of_several_threads_goes_on_when_memory_runs_out) {
    expect_compactions_to_go_on<thread_executor>(3);
}

TEST_P(recording_test, a_span_that_finds_no_memory_is_dropped_and_counted) {
    const std::size_t allocations = with_each_allocation_failing(GetParam(), [&](memory_shortage& memory) {
        timeline records;
        const auto now = timeline::clock::now();
        memory.begin();
        records.add_span(name, now, now);
        records.add_span("on a track", now, now, name);
        memory.end();
        EXPECT_EQ(records.size() + records.dropped(), 2U);
        EXPECT_EQ(records.dropped() != 0, memory.came());
    });
    EXPECT_GE(allocations, 4U);
}

TEST_P(recording_test, counters_that_find_no_memory_are_dropped_and_counted) {
    const std::size_t allocations = with_each_allocation_failing(GetParam(), [&](memory_shortage& memory) {
        timeline records;
        memory.begin();
        records.add_counters(name, {{name, 1}, {"short", 2}});
        memory.end();
        EXPECT_EQ(records.size(), memory.came() ? 0U : 1U);
        EXPECT_EQ(records.dropped(), memory.came() ? 1U : 0U);
    });
    EXPECT_GE(allocations, 4U);
}

TEST_P(recording_test, a_span_object_that_finds_no_memory_is_dropped_and_counted) {
    const std::size_t allocations = with_each_allocation_failing(GetParam(), [&](memory_shortage& memory) {
        timeline records;
        memory.begin();
        {
            const timeline_span span(records, name);
        }
        memory.end();
        EXPECT_EQ(records.size(), memory.came() ? 0U : 1U);
        EXPECT_EQ(records.dropped(), memory.came() ? 1U : 0U);
    });
    EXPECT_GE(allocations, 2U);
}

TEST_P(recording_test, what_finds_memory_again_is_recorded_behind_what_was_dropped) {
    with_each_allocation_failing(GetParam(), [&](memory_shortage& memory) {
        timeline records;
        const auto now = timeline::clock::now();
        memory.begin();
        records.add_span(name, now, now, "a track");
        memory.end();
        const std::size_t before = records.size();
        records.add_span(name, now, now, "a track");
        EXPECT_EQ(records.size(), before + 1);
    });
}

} // namespace
} // namespace handlepool::test

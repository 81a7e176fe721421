// SPDX-License-Identifier: MIT
#include <handlepool/executor_ref.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/tbb/executor.hpp>
#include <handlepool/thread_executor.hpp>

#include <gtest/gtest.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>
#include <tests/support/threads.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <random>
#include <thread>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

/// Runs each test in an arena of so many threads.
class tbb_executor_test : public testing::TestWithParam<int> {
protected:
    tbb::task_arena arena{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(threads, tbb_executor_test, testing::Values(1, 2, 4));

void expect_covered_once(const tbb_executor& executor) {
    for (const std::size_t grain : {1U, 7U, 64U, 1024U}) {
        for (const std::size_t count : {0U, 1U, 2U, 6U, 7U, 8U, 63U, 64U, 65U, 1000U, 1025U, 12'345U}) {
            std::vector<int> visits(count); // plain: the executor orders them before the end of the loop
            executor.for_ranges(count, grain, [&](std::size_t first, std::size_t last) noexcept {
                for (; first != last; ++first) {
                    ++visits[first];
                }
            });
            EXPECT_EQ(std::ranges::count(visits, 1), static_cast<std::ptrdiff_t>(count))
                << count << " items, grain " << grain;
        }
    }
}

TEST_P(tbb_executor_test, covers_each_item_exactly_once_in_the_callers_arena) {
    arena.execute([] { expect_covered_once(tbb_executor()); });
}

TEST_P(tbb_executor_test, covers_each_item_exactly_once_in_an_arena_of_its_own) {
    expect_covered_once(tbb_executor(arena));
    tbb::task_arena(2).execute([&] { expect_covered_once(tbb_executor(arena)); });
    arena.execute([&] { expect_covered_once(tbb_executor(arena)); });
}

TEST_P(tbb_executor_test, runs_loops_up_to_the_grain_in_the_calling_thread) {
    const tbb_executor executor(arena);
    const auto self = std::this_thread::get_id();
    for (const std::size_t count : {1U, 63U, 64U}) {
        int calls = 0;
        executor.for_ranges(count, 64, [&](std::size_t first, std::size_t last) noexcept {
            ++calls;
            EXPECT_EQ(std::this_thread::get_id(), self);
            EXPECT_EQ(first, 0U);
            EXPECT_EQ(last, count);
        });
        EXPECT_EQ(calls, 1);
    }
    executor.for_ranges(0, 64, [](std::size_t, std::size_t) noexcept { ADD_FAILURE() << "of no items"; });
}

TEST_P(tbb_executor_test, no_range_is_longer_than_all_or_shorter_than_half_a_grain) {
    const tbb_executor executor(arena);
    std::atomic<int> wrong = 0;
    executor.for_ranges(12'345, 64, [&](std::size_t first, std::size_t last) noexcept {
        wrong += last - first < 32 || last > 12'345 ? 1 : 0;
    });
    EXPECT_EQ(wrong, 0);
}

TEST_P(tbb_executor_test, serves_several_threads_at_once) {
    const tbb_executor executor(arena);
    in_threads(3, [&](std::size_t thread) {
        std::vector<std::size_t> items(3000);
        for (std::size_t loop = 1; loop != 50; ++loop) {
            executor.for_ranges(items.size(), 16, [&](std::size_t first, std::size_t last) noexcept {
                for (; first != last; ++first) {
                    items[first] += thread + 1;
                }
            });
            ASSERT_EQ(std::ranges::count(items, loop * (thread + 1)), 3000);
        }
    });
}

TEST_P(tbb_executor_test, a_cancelled_group_does_not_cut_the_loop) {
    const tbb_executor executor;
    std::atomic<std::size_t> visited = 0;
    arena.execute([&] {
        tbb::task_group group;
        group.run_and_wait([&] {
            executor.for_ranges(10'000, 10, [&](std::size_t first, std::size_t last) noexcept {
                group.cancel();
                visited += last - first;
            });
        });
    });
    EXPECT_EQ(visited, 10'000U);
}

TEST_P(tbb_executor_test, a_cancelled_parallel_loop_does_not_cut_the_loop_inside) {
    const tbb_executor executor;
    std::atomic<std::size_t> visited = 0;
    arena.execute([&] {
        tbb::task_group_context context;
        tbb::parallel_for(
            0, 1,
            [&](int) {
                context.cancel_group_execution();
                executor.for_ranges(10'000, 10, [&](std::size_t first, std::size_t last) noexcept {
                    visited += last - first;
                });
            },
            context);
    });
    EXPECT_EQ(visited, 10'000U);
}

// The other task could take an access guard, and would then wait for the compaction that it runs in.
TEST(tbb_executor_isolation_test, a_thread_that_waits_for_a_loop_runs_nothing_else) {
    const tbb_executor executor;
    static thread_local bool in_loop = false;
    std::atomic<int> nested = 0;
    std::atomic<int> ran = 0;
    // As long as it takes, but not for ever.
    const auto wait_for = [](auto condition) {
        for (int i = 0; i != 2000 && !condition(); ++i) {
            std::this_thread::yield();
        }
    };
    tbb::task_arena(2).execute([&] {
        const auto self = std::this_thread::get_id();
        tbb::task_group others;
        for (int round = 1; round <= 20; ++round) {
            std::atomic<bool> has_help = false;
            in_loop = true;
            executor.for_ranges(2, 1, [&](std::size_t, std::size_t) noexcept {
                if (std::this_thread::get_id() == self) {
                    wait_for([&] { return has_help.load(); });
                    return; // and waits for the helper, who has a task that is none of the loop
                }
                has_help = true;
                tbb::this_task_arena::isolate([&] {
                    others.run([&] {
                        nested += in_loop ? 1 : 0;
                        ++ran;
                    });
                });
                wait_for([&] { return ran == round; });
            });
            in_loop = false;
        }
        others.wait();
    });
    EXPECT_EQ(nested, 0);
}

/// Handles of the dense store after a life that is the same each time.
template <class Executor>
std::vector<std::pair<std::uint64_t, int>> order_after_compactions(Executor&& executor) {
    std::mt19937_64 random(1); // the same for all executors
    pool<int> pool({.name = "ordered", .capacity = 20'000, .reuse_delay = 0});
    std::vector<handle<int>> handles;
    for (int frame = 0; frame != 5; ++frame) {
        for (int i = 0; i != 3000; ++i) {
            handles.push_back(pool.emplace(frame * 10'000 + i));
        }
        for (int i = 0; i != 1800 && frame != 0; ++i) {
            pool.erase(handles[random() % handles.size()]);
        }
        pool.compact(executor);
    }
    std::vector<std::pair<std::uint64_t, int>> order;
    for (std::size_t i = 0; i != pool.items().size(); ++i) {
        const auto handle = pool.handle_at(i);
        order.emplace_back(handle.index() << 32 | handle.generation(), pool.items()[i]);
    }
    return order;
}

TEST(tbb_executor_order_test, the_order_of_the_objects_does_not_depend_on_the_executor) {
    const auto expected = order_after_compactions(inline_executor());
    ASSERT_GT(expected.size(), 5000U);
    for (const unsigned threads : {0U, 1U, 3U}) {
        EXPECT_EQ(order_after_compactions(thread_executor(threads)), expected) << threads << " threads";
    }
    for (const int threads : {1, 2, 4}) {
        tbb::task_arena arena(threads);
        EXPECT_EQ(order_after_compactions(tbb_executor(arena)), expected) << "arena of " << threads;
        arena.execute([&] { EXPECT_EQ(order_after_compactions(tbb_executor()), expected); });
    }
    tbb_executor referred;
    EXPECT_EQ(order_after_compactions(executor_ref(referred)), expected);
}

} // namespace
} // namespace handlepool::test

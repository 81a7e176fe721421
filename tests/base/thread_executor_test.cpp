// SPDX-License-Identifier: MIT
#include <handlepool/thread_executor.hpp>

#include <gtest/gtest.h>
#include <tests/support/random.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <set>
#include <thread>
#include <vector>

namespace handlepool::test {
namespace {

class thread_executor_test : public testing::TestWithParam<unsigned> {
protected:
    thread_executor executor{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(threads, thread_executor_test, testing::Values(0, 1, 2, 4, 7));

TEST_P(thread_executor_test, covers_each_item_exactly_once) {
    for (const std::size_t grain : {1U, 7U, 64U, 1024U}) {
        for (const std::size_t count :
             {0U, 1U, 2U, 6U, 7U, 8U, 63U, 64U, 65U, 1000U, 1024U, 1025U, 12'345U}) {
            std::vector<int> visits(count); // plain: the executor orders them before the end of the loop
            executor.for_ranges(count, grain, [&](std::size_t first, std::size_t last) noexcept {
                for (; first != last; ++first) {
                    ++visits[first];
                }
            });
            EXPECT_EQ(std::count(visits.begin(), visits.end(), 1), static_cast<std::ptrdiff_t>(count))
                << count << " items, grain " << grain;
        }
    }
}

TEST_P(thread_executor_test, all_ranges_but_the_last_are_at_least_a_grain_long) {
    for (const std::size_t count : {100U, 1000U, 12'345U}) {
        std::atomic<int> too_short{0};
        executor.for_ranges(count, 64, [&](std::size_t first, std::size_t last) noexcept {
            too_short += last - first < 64 && last != count ? 1 : 0;
        });
        EXPECT_EQ(too_short, 0);
    }
}

TEST_P(thread_executor_test, is_used_again_and_again) {
    test::random_source random;
    std::vector<std::uint64_t> items(500);
    std::uint64_t expected = 0;
    for (std::uint64_t loop = 0; loop != 2000; ++loop) {
        const std::size_t count = random.below(items.size() + 1);
        // Each loop reads what the one before has written, perhaps in another thread.
        executor.for_ranges(count, 1, [&](std::size_t first, std::size_t last) noexcept {
            for (; first != last; ++first) {
                items[first] += 1;
            }
        });
        expected += count;
    }
    std::uint64_t sum = 0;
    for (const auto item : items) {
        sum += item;
    }
    EXPECT_EQ(sum, expected);
}

TEST_P(thread_executor_test, a_new_body_is_run_each_time) {
    for (int loop = 0; loop != 200; ++loop) {
        std::atomic<int> sum{0};
        executor.for_ranges(10, 1, [&sum, loop](std::size_t first, std::size_t last) noexcept {
            sum += loop * static_cast<int>(last - first);
        });
        ASSERT_EQ(sum, 10 * loop);
    }
}

TEST(thread_executor_parallel_test, several_threads_take_part) {
    thread_executor executor(3);
    std::atomic<int> arrived{0};
    std::vector<std::thread::id> ids(3);
    // One item a range, and each waits for the others: one thread alone would never come to an end.
    executor.for_ranges(3, 0, [&](std::size_t first, std::size_t last) noexcept {
        for (; first != last; ++first) {
            ids[first] = std::this_thread::get_id();
            ++arrived;
            while (arrived != 3) {
                std::this_thread::yield();
            }
        }
    });
    EXPECT_EQ(std::set(ids.begin(), ids.end()).size(), 3U);
}

TEST(thread_executor_parallel_test, few_items_stay_in_the_calling_thread) {
    thread_executor executor(3);
    std::thread::id ran_in;
    executor.for_ranges(10, 10,
                        [&](std::size_t, std::size_t) noexcept { ran_in = std::this_thread::get_id(); });
    EXPECT_EQ(ran_in, std::this_thread::get_id());
}

TEST(thread_executor_parallel_test, many_executors_come_and_go) {
    for (unsigned i = 0; i != 100; ++i) {
        thread_executor executor(1 + i % 4);
        if (i % 3 != 0) { // some end without having run
            std::atomic<std::size_t> sum{0};
            executor.for_ranges(100, 1,
                                [&](std::size_t first, std::size_t last) noexcept { sum += last - first; });
            EXPECT_EQ(sum, 100U);
        }
    }
}

} // namespace
} // namespace handlepool::test

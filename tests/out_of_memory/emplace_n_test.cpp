// SPDX-License-Identifier: MIT
#include <handlepool/pool.hpp>

#include <gtest/gtest.h>
#include <tests/support/failing_new.hpp>

#include <iterator>
#include <new>
#include <vector>

namespace handlepool::test {
namespace {

// Slots taken before the allocation that failed used to be lost for ever.
TEST(emplace_n_without_memory, leaves_room_for_all) {
    constexpr std::size_t capacity = 1000;
    pool<int> numbers({.name = "ints", .capacity = capacity, .reuse_delay = 0});
    std::vector<handle<int>> handles;
    handles.reserve(capacity);
    const std::size_t allocations =
        with_each_allocation_failing(shortage::of_one_allocation, [&](memory_shortage& when) {
            bool made = true;
            when.begin();
            try {
                numbers.emplace_n(capacity, std::back_inserter(handles), 7);
            } catch (const std::bad_alloc&) {
                made = false;
            }
            when.end();
            EXPECT_EQ(made, !when.came());
            EXPECT_EQ(numbers.size(), made ? capacity : 0);
            const pool_stats stats = numbers.stats();
            EXPECT_EQ(stats.slots_in_service, stats.alive + stats.slots_free + stats.slots_claimed);
            numbers.clear();
            numbers.compact();
            handles.clear();
        });
    EXPECT_GE(allocations, 3U);
    while (numbers.try_emplace(1)) {
    }
    EXPECT_EQ(numbers.size(), capacity);
}

} // namespace
} // namespace handlepool::test

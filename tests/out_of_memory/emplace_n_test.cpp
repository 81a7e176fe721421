// SPDX-License-Identifier: MIT
#include <handlepool/pool.hpp>
#include <handlepool/recycling_pool.hpp>
#include <handlepool/stable_pool.hpp>

#include <gtest/gtest.h>
#include <tests/support/failing_new.hpp>

#include <cstddef>
#include <iterator>
#include <new>
#include <string>
#include <vector>

namespace handlepool::test {
namespace {

template <class Pool>
class emplace_n_without_memory : public testing::Test {};

using all_placements = testing::Types<pool<int>, stable_pool<int>, recycling_pool<std::string>>;
TYPED_TEST_SUITE(emplace_n_without_memory, all_placements);

// Neither slots nor places that were taken before the allocation that failed are lost, however often one
// fails.
TYPED_TEST(emplace_n_without_memory, leaves_room_for_all) {
    constexpr std::size_t capacity = 1000;
    for (const std::size_t count : {capacity, std::size_t{65}}) { // one place more than a group has
        TypeParam pool(
            pool_options{.name = "objects", .capacity = capacity, .reuse_delay = 0, .max_threads = 1});
        std::vector<typename TypeParam::handle_type> handles;
        handles.reserve(capacity);
        for (int round = 0; round != 10; ++round) {
            const std::size_t allocations =
                with_each_allocation_failing(shortage::of_one_allocation, [&](memory_shortage& when) {
                    bool made = true;
                    when.begin();
                    try {
                        pool.emplace_n(count, std::back_inserter(handles));
                    } catch (const std::bad_alloc&) {
                        made = false;
                    }
                    when.end();
                    ASSERT_EQ(made, !when.came());
                    ASSERT_EQ(pool.size(), made ? count : 0);
                    const pool_stats stats = pool.stats();
                    ASSERT_EQ(stats.slots_in_service, stats.alive + stats.slots_free + stats.slots_claimed);
                    pool.clear();
                    pool.compact();
                    handles.clear();
                });
            ASSERT_GE(allocations, 2U);
        }
        while (pool.try_emplace()) {
        }
        EXPECT_EQ(pool.size(), capacity);
    }
}

} // namespace
} // namespace handlepool::test

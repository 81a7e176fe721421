// SPDX-License-Identifier: MIT
#include <handlepool/policy.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/recycling_pool.hpp>
#include <handlepool/stable_pool.hpp>

#include <gtest/gtest.h>
#include <tests/support/failing_new.hpp>
#include <tests/support/hostile_types.hpp>
#include <tests/support/vacated_place.hpp>

#include <cstddef>
#include <iterator>
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
                    const bool made = !when.hits([&] { pool.emplace_n(count, std::back_inserter(handles)); });
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

// A batch that needs more than the shard's chunk has left looks for vacated places first.
TEST(vacated_places_without_memory, are_taken_by_a_batch_or_left) {
    constexpr std::size_t chunk = default_policy::nursery_chunk;
    const re_entrant::callback nothing = [] {};
    std::vector<handle<re_entrant>> handles;
    handles.reserve(chunk + 2);
    const std::size_t allocations =
        with_each_allocation_failing(shortage::of_one_allocation, [&](memory_shortage& when) {
            pool<re_entrant> objects({.name = "objects", .capacity = 1000, .max_threads = 1});
            vacate_last_place(objects);
            const bool made =
                !when.hits([&] { objects.emplace_n(chunk + 2, std::back_inserter(handles), nothing); });
            handles.clear();
            objects.emplace(nothing);
            const std::size_t alive = chunk + (made ? chunk + 2 : 0);
            EXPECT_EQ(objects.size(), alive);
            EXPECT_EQ(objects.compact().born, alive);
            EXPECT_EQ(objects.items().size(), alive);
            EXPECT_TRUE(objects.idle());
        });
    EXPECT_GE(allocations, 3U);
}

} // namespace
} // namespace handlepool::test

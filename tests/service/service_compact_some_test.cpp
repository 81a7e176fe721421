// SPDX-License-Identifier: MIT

// Compactions of a service with a budget, which its pools share.

#include <handlepool/pool.hpp>
#include <handlepool/service.hpp>
#include <handlepool/thread_executor.hpp>

#include <gtest/gtest.h>
#include <tests/support/vacated_place.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace handlepool::test {
namespace {

class compact_some_of_service : public testing::Test {
protected:
    compact_some_of_service() {
        for (int i = 0; i != 4; ++i) {
            pools.push_back(&world.add<pool<int>>("pool " + std::to_string(i), {.capacity = 10'000}));
        }
    }
    void load(std::size_t which, int count) {
        for (int i = 0; i != count; ++i) {
            handles.push_back(pools[which]->emplace(i));
        }
    }
    std::size_t taken(std::size_t which) const { return pools[which]->stats().dense; }

    service world;
    std::vector<pool<int>*> pools;
    std::vector<any_handle> handles;
};

TEST_F(compact_some_of_service, pools_get_equal_shares_and_what_others_leave) {
    load(0, 1000);
    load(1, 5);
    load(2, 1000);
    const service_compaction done = world.compact_some(105);
    EXPECT_EQ(done.pools, 3U);
    EXPECT_EQ(done.born, 105U);
    EXPECT_EQ(done.waiting_newborns, 2005U - 105U);
    EXPECT_EQ(taken(1), 5U);
    EXPECT_GE(taken(0), 35U);
    EXPECT_GE(taken(2), 35U);
}

TEST_F(compact_some_of_service, all_is_done_in_the_end) {
    for (std::size_t i = 0; i != 4; ++i) {
        load(i, 100 * static_cast<int>(i));
    }
    std::size_t frames = 0;
    thread_executor threads(2);
    while (world.compact_some(50, threads).waiting_newborns != 0) {
        ASSERT_LT(++frames, 20U);
    }
    for (const any_handle handle : handles) {
        EXPECT_TRUE(world.erase(handle));
    }
    while (world.compact_some(50).waiting_removals != 0) {
        ASSERT_LT(++frames, 40U);
    }
    for (const auto* const each : pools) {
        EXPECT_TRUE(each->idle());
        EXPECT_EQ(each->size(), 0U);
    }
    EXPECT_EQ(world.frames(), frames + 2);
}

TEST_F(compact_some_of_service, a_budget_below_the_number_of_pools_leaves_none_behind) {
    for (std::size_t i = 0; i != 4; ++i) {
        load(i, 1000);
    }
    for (int frame = 0; frame != 40; ++frame) {
        ASSERT_LE(world.compact_some(2).born, 2U);
    }
    for (std::size_t i = 0; i != 4; ++i) {
        EXPECT_GE(taken(i), 10U);
    }
}

// Nothing waits that is counted, and yet the pool is not idle.
TEST(compact_some_of_service_with_failures, reaches_a_place_whose_constructor_threw) {
    service world;
    auto& failing = world.add<pool<re_entrant>>("failing", {.capacity = 1000});
    auto& other = world.add<pool<int>>("other", {.capacity = 10'000});
    vacate_last_place(failing);
    for (int frames = 0; !failing.idle(); ++frames) {
        ASSERT_LT(frames, 100);
        other.emplace(frames);
        other.emplace(frames);
        world.compact_some(2);
    }
}

TEST_F(compact_some_of_service, removed_pools_end_whole) {
    load(0, 1000);
    EXPECT_TRUE(world.remove_pool("pool 0"));
    EXPECT_EQ(world.compact_some(1).pools, 0U);
    EXPECT_FALSE(world.contains(handles.front()));
}

TEST_F(compact_some_of_service, extractions_are_delivered_where_others_use_the_budget_up) {
    for (std::size_t which = 0; which != 4; ++which) {
        const auto taken_out = pools[which]->emplace(7);
        world.compact();
        int delivered = 0;
        const auto sink = [&delivered](int&& object) { delivered = object; };
        pools[which]->extract(taken_out, sink);
        for (std::size_t other = 0; other != 4; ++other) {
            if (other != which) {
                load(other, 10);
            }
        }
        world.compact_some(1);
        EXPECT_EQ(delivered, 7) << which;
        world.compact();
    }
}

} // namespace
} // namespace handlepool::test

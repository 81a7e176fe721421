// SPDX-License-Identifier: MIT

// Full and used-up pools.

#include <handlepool/pool.hpp>
#include <handlepool/stable_pool.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <support/steps/step_atomics.hpp>
#include <tests/support/consistency.hpp>
#include <tests/support/hostile_types.hpp>
#include <tests/support/stop_at_every_access.hpp>
#include <tests/support/threads.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <thread>
#include <vector>

namespace handlepool::test {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;
using number_pool = pool<std::uint64_t>;

TEST(used_up_generations, retire_slots_and_the_pool_says_when_all_are) {
    using layout = handle_layout<32, 3, 29>;
    census counts;
    pool<counted, with_layout<layout>> pool(
        {.name = "narrow", .capacity = 10, .reuse_delay = 0, .slot_limit = 20});
    std::size_t created = 0;
    while (const auto handle = pool.try_emplace(std::ref(counts))) {
        ++created;
        pool.erase(handle);
        pool.compact();
        const pool_stats stats = pool.stats();
        ASSERT_EQ(stats.slots_in_service, stats.slots_free + stats.slots_claimed + stats.slots_retired);
    }
    EXPECT_EQ(created, 20U * 3U);
    EXPECT_THAT([&] { pool.emplace(std::ref(counts)); },
                ThrowsMessage<pool_used_up>(HasSubstr("pool 'narrow' is used up: all 20 slots")));
    EXPECT_EQ(counts.alive(), 0);
    for (int round = 0; round < 3; ++round) {
        pool.reset();
        EXPECT_THROW(pool.emplace(std::ref(counts)), pool_used_up) << "a reset brings no generations back";
    }
    expect_consistent(pool);
}

TEST(used_up_generations, are_told_also_when_the_reuse_delay_holds_slots_back) {
    using layout = handle_layout<32, 3, 29>;
    pool<int, with_layout<layout>> pool(
        {.name = "delayed", .capacity = 10, .reuse_delay = 8, .slot_limit = 40});
    while (const auto handle = pool.try_emplace(1)) {
        pool.erase(handle);
        pool.compact();
    }
    EXPECT_EQ(pool.stats().slots_retired, 32U);
    EXPECT_THROW(pool.emplace(1), pool_used_up);
}

// The slots start anew above the last generation, which one of them has reached.
template <class Pool>
void reset_after_one_slot_has_retired() {
    census counts;
    Pool pool({.name = "worn", .capacity = 100, .reuse_delay = 0, .slot_limit = 200});
    std::vector<typename Pool::handle_type> handles;
    while (pool.stats().slots_retired == 0) {
        handles.push_back(pool.emplace(std::ref(counts)));
        pool.erase(handles.back());
        pool.compact();
    }
    while (handles.size() < 250) { // some are alive, some newborn, and some slots were never used
        handles.push_back(pool.emplace(std::ref(counts)));
        if (handles.size() % 4 != 0) {
            pool.erase(handles.back());
        }
        if (handles.size() % 30 == 0) {
            pool.compact();
        }
    }
    for (int round = 0; round != 2; ++round) {
        pool.reset();
        pool.shrink_to_fit();
        EXPECT_EQ(counts.alive(), 0);
        EXPECT_EQ(pool.size(), 0U);
        EXPECT_EQ(pool.stats().slots_retired, 200U);
        EXPECT_EQ(pool.compact().removed, 0U);
        EXPECT_THROW(pool.emplace(std::ref(counts)), pool_used_up);
        for (const auto handle : handles) {
            EXPECT_FALSE(pool.contains(handle));
        }
    }
    expect_consistent(pool);
}

TEST(used_up_generations, of_one_slot_are_those_of_all_after_a_reset) {
    using layout = handle_layout<32, 3, 29>;
    reset_after_one_slot_has_retired<pool<counted, with_layout<layout>>>();
    reset_after_one_slot_has_retired<stable_pool<counted, with_layout<layout>>>();
}

TEST(full_pool, fails_only_when_full_under_contention) {
    for (const std::size_t capacity : {1U, 7U, 100U, 5000U}) {
        for (int round = 0; round < 10; ++round) {
            number_pool pool({.name = "brim", .capacity = capacity, .reuse_delay = 0});
            std::atomic<std::size_t> created = 0;
            in_threads(4, [&](std::size_t) {
                std::size_t mine = 0;
                while (pool.try_emplace(1U)) {
                    ++mine;
                }
                created += mine;
            });
            EXPECT_GE(created, capacity);
            EXPECT_LE(created, capacity + 4 * default_policy::claim_size);
            expect_consistent(pool);
        }
    }
}

TEST(full_pool, idle_threads_claims_do_not_count) {
    number_pool pool({.name = "idle", .capacity = 20'000, .reuse_delay = 0});
    std::jthread([&] { pool.emplace(1U); }).join();
    std::thread idle([&] { pool.emplace(1U); });
    idle.join();
    std::size_t created = 0;
    while (pool.try_emplace(1U)) {
        ++created;
    }
    EXPECT_EQ(created + 2, 20'000U);
}

struct large_enough_for_claims_of_two {
    pool<int, with_policy<support::step_policy>> objects{{.name = "full", .capacity = 512, .max_threads = 8}};
    std::size_t created = 0;
};

// The slots that it takes beside the one that it needs are nobody's yet.
TEST(full_pool, a_claim_that_another_thread_is_about_to_make_does_not_count) {
    test::stop_at_every_access<large_enough_for_claims_of_two>(
        [](auto& scene) { scene.objects.try_emplace(1); },
        [](auto& scene) {
            while (scene.objects.try_emplace(2)) {
                ++scene.created;
            }
        },
        [](auto& scene) { EXPECT_GE(scene.created, scene.objects.capacity() - 1); });
}

TEST(full_pool, has_room_for_no_objects_at_all) {
    number_pool pool({.name = "bulk", .capacity = 10});
    while (pool.try_emplace(1U)) {
    }
    std::vector<number_pool::handle_type> handles;
    EXPECT_TRUE(pool.try_emplace_n(0, std::back_inserter(handles), 1U));
    EXPECT_NO_THROW(pool.emplace_n(0, std::back_inserter(handles), 1U));
    EXPECT_TRUE(handles.empty());
}

TEST(full_pool, slots_that_a_failed_emplace_n_gives_back_are_for_all_threads) {
    number_pool pool({.name = "bulk", .capacity = 10'000, .reuse_delay = 0});
    std::vector<number_pool::handle_type> handles;
    EXPECT_THROW(pool.emplace_n(10'001, std::back_inserter(handles), 1U), pool_exhausted);
    pool.compact();
    std::size_t created = 0;
    std::jthread([&] {
        while (pool.try_emplace(1U)) {
            ++created;
        }
    }).join();
    EXPECT_GE(created, 10'000U);
    expect_consistent(pool);
}

TEST(full_pool, is_told_at_once_to_who_asks_for_more_than_can_be) {
    number_pool pool({.name = "bulk", .capacity = 10});
    std::vector<number_pool::handle_type> handles;
    EXPECT_THROW(pool.emplace_n(std::numeric_limits<std::size_t>::max(), std::back_inserter(handles), 1U),
                 pool_exhausted);
    EXPECT_TRUE(handles.empty());
}

// Another thread creates objects before the batch has its slots.
TEST(stopped_emplace_n, that_is_refused_gives_its_places_back) {
    pool<std::uint64_t, with_policy<support::step_policy>> pool(
        {.name = "stepped", .capacity = 8, .reuse_delay = 0, .max_threads = 4});
    std::size_t refused = 0;
    while (refused < 200) { // more often than there are chunks of places
        bool is_stopped = true;
        for (std::size_t access = 0; is_stopped; ++access) {
            std::vector<decltype(pool)::handle_type> handles;
            support::stepper victim(access, [&] { pool.try_emplace_n(5, std::back_inserter(handles), 1U); });
            is_stopped = victim.stopped();
            std::size_t others = 0;
            while (pool.try_emplace(2U)) {
                ++others;
            }
            victim.finish();
            ASSERT_GE(handles.size() + others, 8U) << "access " << access;
            refused += handles.empty() ? 1 : 0;
            pool.clear();
            pool.compact();
            ASSERT_EQ(pool.stats().newborn, 0U) << "access " << access;
        }
    }
    expect_consistent(pool);
}

} // namespace
} // namespace handlepool::test

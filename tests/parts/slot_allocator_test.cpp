// SPDX-License-Identifier: MIT
#include <handlepool/detail/parts/pool_config.hpp>
#include <handlepool/detail/parts/shard.hpp>
#include <handlepool/detail/parts/slot_allocator.hpp>
#include <handlepool/detail/recorder/life_recorder.hpp>
#include <handlepool/detail/slots/slot_table.hpp>
#include <handlepool/handle.hpp>
#include <handlepool/policy.hpp>
#include <handlepool/pool_options.hpp>

#include <gtest/gtest.h>
#include <support/steps/tiny_policy.hpp>
#include <tests/support/threads.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <set>
#include <stdexcept>
#include <vector>

namespace handlepool::test {
namespace {

using namespace detail;
using layout = default_layout;

/// Lets a test say which shard it works in.
template <class Base>
struct chosen_shard : Base {
    inline static thread_local std::uint32_t chosen = 0;
    static std::uint32_t thread_index(std::uint64_t) noexcept { return chosen; }
};

template <class Policy>
struct allocator_rig {
    using policy = Policy;

    explicit allocator_rig(const pool_options& options)
        : geometry(plan_geometry(options, {.index_count = std::uint64_t{1} << layout::index_bits,
                                           .nursery_chunk = Policy::nursery_chunk,
                                           .removal_chunk = Policy::removal_chunk})),
          slots("slots", geometry.slot_limit, 0),
          shards("shards", geometry.max_threads),
          allocator("freelist", geometry, slots, shards, lives) {}

    shard<Policy>& shard_of(std::uint32_t thread) {
        Policy::chosen = thread;
        auto* const found = shards.mine();
        if (found == nullptr) {
            throw std::out_of_range("the thread has no shard");
        }
        return *found;
    }

    /// As many slots as there are, up to `count`.
    std::vector<std::uint32_t> take(std::uint32_t thread, std::size_t count) {
        std::vector<std::uint32_t> taken;
        while (taken.size() != count) {
            const slot_index slot = allocator.take(shard_of(thread));
            if (slot == slot_index::none) {
                break;
            }
            taken.push_back(raw(slot));
        }
        return taken;
    }

    void release(const std::vector<std::uint32_t>& all) {
        for (const auto slot : all) {
            allocator.release(slot_index{slot});
        }
        allocator.publish();
    }

    pool_geometry geometry;
    slot_table<pool_config<layout, Policy>> slots;
    shard_table<Policy> shards;
    life_recorder<Policy> lives{"recorder", 0, 0, 0, 0, 0};
    slot_allocator<pool_config<layout, Policy>> allocator;
};

template <class Policy>
class slot_allocator_test : public testing::Test {
protected:
    using rig_type = allocator_rig<chosen_shard<Policy>>;
};

using policies = testing::Types<default_policy, support::tiny_policy<1>, support::tiny_policy<2>>;
TYPED_TEST_SUITE(slot_allocator_test, policies);

constexpr std::size_t many = 100'000;

TYPED_TEST(slot_allocator_test, one_shard_gets_exactly_the_capacity) {
    for (const std::size_t capacity : {1U, 2U, 127U, 128U, 1000U, 20'000U}) {
        typename TestFixture::rig_type rig({.capacity = capacity});
        const auto taken = rig.take(0, many);
        EXPECT_EQ(taken.size(), capacity);
        EXPECT_EQ(std::set(taken.begin(), taken.end()).size(), capacity);
        EXPECT_EQ(rig.allocator.held(), 0U);
    }
}

TYPED_TEST(slot_allocator_test, what_idle_shards_hold_does_not_count_against_the_capacity) {
    typename TestFixture::rig_type rig({.capacity = 10'000, .max_threads = 16});
    for (std::uint32_t idle = 1; idle != 8; ++idle) {
        EXPECT_EQ(rig.take(idle, 1).size(), 1U);
    }
    const std::size_t idle = rig.allocator.held();
    EXPECT_EQ(rig.take(0, many).size(), 10'000U - 7);
    EXPECT_EQ(rig.allocator.held(), idle);
    // They can use what they hold.
    for (std::uint32_t shard = 1; shard != 8; ++shard) {
        const std::size_t held = rig.shard_of(shard).claim.left();
        EXPECT_EQ(rig.take(shard, held).size(), held);
    }
    EXPECT_LE(rig.allocator.list().fresh(), rig.geometry.object_limit);
}

TYPED_TEST(slot_allocator_test, slots_that_an_idle_shard_gave_back_do_not_count_either) {
    typename TestFixture::rig_type rig({.capacity = 100, .max_threads = 16});
    const auto taken = rig.take(1, 5);
    for (const auto slot : taken) {
        rig.allocator.give_back(slot_index{slot});
    }
    EXPECT_GE(rig.allocator.waiting() + rig.allocator.held(), 5U);
    EXPECT_EQ(rig.take(0, many).size(), 100U);
}

TYPED_TEST(slot_allocator_test, a_shard_that_gave_slots_back_takes_those_before_it_claims_more) {
    typename TestFixture::rig_type rig({.capacity = 10});
    const auto taken = rig.take(0, 10);
    for (const auto slot : {taken[3], taken[7], taken[0]}) {
        rig.allocator.give_back(slot_index{slot});
    }
    EXPECT_EQ(rig.allocator.held() + rig.allocator.waiting(), 3U);
    auto again = rig.take(0, many);
    std::ranges::sort(again);
    EXPECT_EQ(again, (std::vector{taken[0], taken[3], taken[7]}));
    EXPECT_EQ(rig.allocator.held() + rig.allocator.waiting(), 0U);
}

TYPED_TEST(slot_allocator_test, slots_given_back_unused_go_to_any_thread_at_once) {
    typename TestFixture::rig_type rig({.capacity = 500, .max_threads = 16});
    for (std::uint32_t shard = 0; shard != 15; ++shard) {
        const auto taken = rig.take(shard, many);
        EXPECT_GE(taken.size(), 485U);
        for (const auto slot : taken) {
            rig.allocator.give_back(slot_index{slot});
        }
        EXPECT_LE(rig.shard_of(shard).claim.left(), 500U / 128);
        EXPECT_EQ(rig.allocator.held() + rig.allocator.waiting(), rig.allocator.list().in_use());
    }
    // Any other thread gets them, at once, each of them once.
    auto again = rig.take(15, many);
    EXPECT_GE(again.size(), 500U);
    EXPECT_LE(rig.allocator.list().fresh(), rig.geometry.object_limit);
    std::ranges::sort(again);
    EXPECT_EQ(std::ranges::adjacent_find(again), again.end());
}

TYPED_TEST(slot_allocator_test,
           many_slots_are_taken_at_once_and_it_is_known_before_whether_there_are_enough) {
    typename TestFixture::rig_type rig({.capacity = 5000, .reuse_delay = 0});
    auto& mine = rig.shard_of(0);
    std::vector<std::uint32_t> slots(5000);
    EXPECT_EQ(rig.allocator.take_many(mine, slots.data(), 3000), 3000U);
    EXPECT_FALSE(rig.allocator.can_give(mine, 2001));
    EXPECT_TRUE(rig.allocator.can_give(mine, 2000));
    EXPECT_EQ(rig.allocator.take_many(mine, slots.data() + 3000, 2000), 2000U);
    EXPECT_EQ(std::set(slots.begin(), slots.end()).size(), 5000U);
    rig.release({slots.begin(), slots.begin() + 1500});
    rig.allocator.give_back(slot_index{slots[4999]});
    std::vector<std::uint32_t> again(1501);
    EXPECT_FALSE(rig.allocator.can_give(mine, 1502));
    EXPECT_TRUE(rig.allocator.can_give(mine, 1501));
    EXPECT_EQ(rig.allocator.take_many(mine, again.data(), 1501), 1501U);
    EXPECT_EQ(again[0], slots[4999]); // needs no delay, and goes out first
    EXPECT_TRUE(std::equal(slots.begin(), slots.begin() + 1500, again.begin() + 1));
}

TYPED_TEST(slot_allocator_test, released_slots_come_back_in_order_after_the_reuse_delay) {
    typename TestFixture::rig_type rig({.capacity = 8, .reuse_delay = 3, .slot_limit = 11});
    EXPECT_EQ(rig.take(0, many).size(), 8U);
    rig.release({5, 1, 6}); // not more than the delay: fresh ones go out
    EXPECT_EQ(rig.take(0, many), (std::vector<std::uint32_t>{8, 9, 10}));
    rig.release({2, 3});
    EXPECT_EQ(rig.take(0, many), (std::vector<std::uint32_t>{5, 1}));
}

TYPED_TEST(slot_allocator_test, a_slot_is_not_taken_between_release_and_publish) {
    typename TestFixture::rig_type rig({.capacity = 4, .reuse_delay = 0, .slot_limit = 4});
    rig.take(0, many);
    rig.allocator.release(slot_index{2});
    EXPECT_TRUE(rig.take(0, 1).empty());
    rig.allocator.publish();
    EXPECT_EQ(rig.take(0, 1), std::vector<std::uint32_t>{2});
}

TYPED_TEST(slot_allocator_test, a_retired_slot_is_replaced_until_the_slot_limit) {
    typename TestFixture::rig_type rig({.capacity = 4, .reuse_delay = 0, .slot_limit = 7});
    EXPECT_EQ(rig.take(0, many).size(), 4U);
    EXPECT_FALSE(rig.allocator.used_up());
    for (std::uint32_t retired = 1; retired != 4; ++retired) {
        rig.allocator.retire(1);
        EXPECT_EQ(rig.allocator.retired(), retired);
        EXPECT_TRUE(rig.allocator.can_give(rig.shard_of(0), 1));
        EXPECT_FALSE(rig.allocator.can_give(rig.shard_of(0), 2));
        EXPECT_EQ(rig.take(0, many), std::vector<std::uint32_t>{3 + retired});
    }
    rig.allocator.retire(3);
    EXPECT_TRUE(rig.take(0, many).empty());
    EXPECT_FALSE(rig.allocator.used_up());
    rig.allocator.retire(1);
    EXPECT_TRUE(rig.allocator.used_up());
    EXPECT_TRUE(rig.take(0, many).empty());
}

TYPED_TEST(slot_allocator_test, after_reset_all_slots_are_fresh_again_or_all_retired) {
    typename TestFixture::rig_type rig({.capacity = 4, .slot_limit = 8});
    rig.take(0, many);
    rig.allocator.retire(2);
    rig.shard_of(0).reset();
    rig.allocator.reset(false);
    EXPECT_EQ(rig.allocator.retired(), 0U);
    EXPECT_EQ(rig.take(0, many), (std::vector<std::uint32_t>{0, 1, 2, 3}));
    rig.shard_of(0).reset();
    rig.allocator.reset(true);
    EXPECT_TRUE(rig.allocator.used_up());
    EXPECT_TRUE(rig.take(0, many).empty());
}

TYPED_TEST(slot_allocator_test, shards_that_compete_get_each_slot_once_and_at_least_the_capacity) {
    constexpr std::uint32_t threads = 4;
    constexpr std::size_t capacity = 3000;
    typename TestFixture::rig_type rig({.capacity = capacity, .max_threads = threads});
    std::mutex mutex;
    std::vector<std::uint32_t> all;
    in_threads(threads, [&](std::size_t thread) {
        const auto taken = rig.take(static_cast<std::uint32_t>(thread), many);
        const std::scoped_lock lock(mutex);
        all.insert(all.end(), taken.begin(), taken.end());
    });
    EXPECT_EQ(std::set(all.begin(), all.end()).size(), all.size());
    EXPECT_GE(all.size(), capacity);
    EXPECT_LE(all.size(), rig.geometry.object_limit);
}

} // namespace
} // namespace handlepool::test

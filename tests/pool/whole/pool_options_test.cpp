// SPDX-License-Identifier: MIT
#include <handlepool/detail/memory/pool_geometry.hpp>
#include <handlepool/detail/threads/thread_index.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tests/support/message_of.hpp>
#include <tests/support/random.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace handlepool::test {
namespace {

using namespace detail;

constexpr geometry_limits wide{
    .index_count = std::uint64_t{1} << 32, .nursery_chunk = 64, .removal_chunk = 64};
constexpr geometry_limits narrow{
    .index_count = std::uint64_t{1} << 16, .nursery_chunk = 64, .removal_chunk = 64};

/// What is said about an option that must be refused.
std::string refusal(const pool_options& options, const geometry_limits& limits = wide) {
    return message_of<std::invalid_argument>([&] { plan_geometry(options, limits); });
}

/// Does the message name the pool, the option, its value and what is allowed?
auto names(const std::string& option, std::size_t value, const std::string& allowed) {
    return testing::AllOf(testing::StartsWith("pool 'ships': " + option + " = " + std::to_string(value)),
                          testing::HasSubstr(allowed));
}

TEST(pool_options_test, a_capacity_of_none_is_refused) {
    EXPECT_THAT(refusal({.name = "ships", .capacity = 0}),
                names("capacity", 0, "allowed are 1 to 4294967294"));
}

TEST(pool_options_test, a_capacity_beyond_the_layout_is_refused) {
    EXPECT_THAT(refusal({.name = "ships", .capacity = 65'537}, narrow),
                names("capacity", 65'537, "1 to 65536"));
    EXPECT_THAT(refusal({.name = "ships", .capacity = pool_options::automatic}),
                names("capacity", pool_options::automatic, "1 to 4294967294"));
    EXPECT_EQ(plan_geometry({.capacity = 65'536}, narrow).capacity, 65'536U);
}

TEST(pool_options_test, a_capacity_whose_places_no_slot_can_name_is_refused) {
    EXPECT_THAT(refusal({.name = "ships", .capacity = 4'000'000'000}),
                testing::AllOf(names("capacity", 4'000'000'000, "max_threads = 4096"),
                               testing::HasSubstr("of 2147483648 that a slot can name")));
}

// The upper half of the numbers says why a slot has no place.
TEST(pool_options_test, the_last_place_that_a_slot_can_name_is_used) {
    // capacity, reuse delay and shard slack; and a chunk of 64 for each 64 of them, and three for each thread
    pool_options options{.capacity = 0, .reuse_delay = 0, .slot_limit = 0, .max_threads = 1};
    const std::size_t places = 0x8000'0000;
    std::size_t largest = 0;
    for (std::size_t step = places; step != 0; step /= 2) {
        options.capacity = largest + step;
        options.slot_limit = options.capacity;
        std::string error;
        if (try_plan_geometry(options, wide, error)) {
            largest = options.capacity;
        }
    }
    options.capacity = options.slot_limit = largest;
    const pool_geometry plan = plan_geometry(options, wide);
    const std::size_t used = plan.dense_positions + plan.nursery_chunks * wide.nursery_chunk;
    EXPECT_LE(used, places);
    EXPECT_GT(used, places - (chunks_of_piece + 3) * wide.nursery_chunk);
}

TEST(pool_options_test, a_slot_limit_below_the_capacity_or_beyond_the_layout_is_refused) {
    EXPECT_THAT(refusal({.name = "ships", .capacity = 100, .slot_limit = 99}, narrow),
                names("slot_limit", 99, "100 to 65536"));
    EXPECT_THAT(refusal({.name = "ships", .capacity = 100, .slot_limit = 65'537}, narrow),
                names("slot_limit", 65'537, "100 to 65536"));
    EXPECT_EQ(plan_geometry({.capacity = 100, .slot_limit = 100}, narrow).slot_limit, 100U);
}

TEST(pool_options_test, a_reuse_delay_that_the_slots_have_no_room_for_is_refused) {
    EXPECT_THAT(refusal({.name = "ships", .capacity = 100, .reuse_delay = 51, .slot_limit = 150}),
                names("reuse_delay", 51, "0 to 50"));
    EXPECT_THAT(refusal({.name = "ships", .capacity = 65'000, .reuse_delay = 537}, narrow),
                names("reuse_delay", 537, "0 to 536"));
    EXPECT_EQ(plan_geometry({.capacity = 100, .reuse_delay = 50, .slot_limit = 150}, wide).reuse_delay, 50U);
}

TEST(pool_options_test, a_removal_queue_without_room_is_refused) {
    EXPECT_THAT(refusal({.name = "ships", .capacity = 100, .removal_queue_size = 0}),
                names("removal_queue_size", 0, "1 or more"));
}

TEST(pool_options_test, a_number_of_threads_that_can_not_be_is_refused) {
    EXPECT_THAT(refusal({.name = "ships", .capacity = 100, .max_threads = 0}),
                names("max_threads", 0, "1 to 65536"));
    EXPECT_THAT(refusal({.name = "ships", .capacity = 100, .max_threads = thread_index_limit + 1}),
                names("max_threads", thread_index_limit + 1, "1 to 65536"));
    EXPECT_EQ(plan_geometry({.capacity = 100, .max_threads = thread_index_limit}, wide).max_threads,
              thread_index_limit);
}

TEST(pool_options_test, automatic_values_are_those_of_the_comments) {
    const pool_geometry plan = plan_geometry({.capacity = 10'000}, wide);
    EXPECT_EQ(plan.capacity, 10'000U);
    EXPECT_EQ(plan.reuse_delay, 1024U);
    EXPECT_GE(plan.slot_limit, 40'000U);
    EXPECT_EQ(plan.max_threads, 4096U);
    EXPECT_EQ(plan.removal_queue_size, pool_options::automatic);
    // What slot_limit leaves.
    EXPECT_EQ(plan_geometry({.capacity = 10'000, .slot_limit = 10'300}, wide).reuse_delay, 300U);
    EXPECT_EQ(plan_geometry({.capacity = 65'536}, narrow).reuse_delay, 0U);
}

TEST(pool_options_test, only_small_pools_have_small_chunks) {
    EXPECT_EQ(plan_geometry({.capacity = 1}, wide).nursery_chunk, 1U);
    EXPECT_EQ(plan_geometry({.capacity = 100}, wide).nursery_chunk, 8U);
    EXPECT_EQ(plan_geometry({.capacity = 100}, wide).removal_chunk, 8U);
    EXPECT_EQ(plan_geometry({.capacity = 1000}, wide).nursery_chunk, wide.nursery_chunk);
    EXPECT_EQ(plan_geometry({.capacity = 1000}, wide).removal_chunk, wide.removal_chunk);
    geometry_limits stable = wide; // whose groups are words of bits
    stable.stable = true;
    EXPECT_EQ(plan_geometry({.capacity = 1}, stable).nursery_chunk, stable.nursery_chunk);
}

// Whatever the options, the sizes must agree with each other: what one part hands out, another has room for.
TEST(pool_options_test, every_plan_has_room_for_what_it_promises) {
    test::random_source random;
    const auto some = [&random](std::size_t most) {
        return random.below((std::size_t{2} << random.below(33)) < most ? (std::size_t{2} << random.below(16))
                                                                        : most);
    };
    int planned = 0;
    for (int i = 0; i != 20'000; ++i) {
        const geometry_limits limits{.index_count = std::uint64_t{1} << (1 + random.below(40)),
                                     .nursery_chunk = 1 + random.below(64),
                                     .removal_chunk = 1 + random.below(64)};
        pool_options options{.capacity = some(std::size_t{1} << 32), .max_threads = some(70'000)};
        if (random.one_in(2)) {
            options.reuse_delay = some(5000);
        }
        if (random.one_in(2)) {
            options.slot_limit = options.capacity + some(20'000);
        }
        pool_geometry plan;
        try {
            plan = plan_geometry(options, limits);
        } catch (const std::invalid_argument&) {
            continue;
        }
        ++planned;
        SCOPED_TRACE("capacity " + std::to_string(options.capacity) + ", reuse_delay " +
                     std::to_string(options.reuse_delay) + ", slot_limit " +
                     std::to_string(options.slot_limit) + ", max_threads " +
                     std::to_string(options.max_threads));
        ASSERT_EQ(plan.capacity, options.capacity);
        ASSERT_EQ(plan.object_limit, plan.capacity + plan.reuse_delay + plan.shard_slack);
        ASSERT_LE(plan.object_limit, plan.slot_limit);
        ASSERT_LE(plan.slot_limit, limits.index_count);
        ASSERT_LT(plan.slot_limit, 0xffff'ffffU);
        ASSERT_GE(plan.nursery_chunk, 1U);
        ASSERT_LE(plan.nursery_chunk, limits.nursery_chunk);
        ASSERT_GE(plan.removal_chunk, 1U);
        ASSERT_LE(plan.removal_chunk, limits.removal_chunk);
        ASSERT_GE(plan.nursery_chunks * plan.nursery_chunk, plan.object_limit);
        ASSERT_GE(plan.removal_chunks * plan.removal_chunk, plan.object_limit);
        ASSERT_LE(plan.dense_positions + plan.nursery_chunks * plan.nursery_chunk, 0x8000'0000U);
        ASSERT_GE(plan.dense_positions, plan.object_limit);
        // What compaction holds back, no shard misses.
        const std::size_t needed =
            (plan.object_limit + plan.nursery_chunk - 1) / plan.nursery_chunk + 3 * plan.max_threads;
        ASSERT_GE(plan.nursery_chunks, needed + chunks_to_hold(plan.nursery_chunks));
        ASSERT_GE(chunks_to_hold(plan.nursery_chunks), 1U);
        const std::size_t piece = chunks_of_piece * plan.nursery_chunk;
        ASSERT_TRUE(plan.object_limit < piece || plan.dense_positions % piece == 0);
    }
    EXPECT_GT(planned, 1000);
}

TEST(claim_share_test, all_shards_together_hold_back_no_more_than_an_eighth_and_a_slot_each) {
    for (const std::size_t capacity : {1U, 100U, 128U, 5000U, 100'000U, 10'000'000U}) {
        for (const std::size_t shards : {1U, 2U, 64U, 1000U, 65'536U}) {
            std::size_t held = 0;
            // The worst: each shard claims its share as it is when it is the last one.
            for (std::size_t shard = 1; shard <= shards; ++shard) {
                held += std::max<std::size_t>(1, claim_share(capacity, shard, 128));
            }
            EXPECT_LE(held, capacity / 8 + shards) << capacity << " in " << shards << " shards";
        }
    }
}

static_assert(claim_share(8192, 1, 128) == 64 && claim_share(8191, 1, 128) == 63 &&
              claim_share(100, 7, 128) == 0);

} // namespace
} // namespace handlepool::test

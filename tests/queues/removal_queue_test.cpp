// SPDX-License-Identifier: MIT
#include <handlepool/detail/parts/pool_config.hpp>
#include <handlepool/detail/queues/removal_queue.hpp>
#include <handlepool/policy.hpp>

#include <gtest/gtest.h>
#include <tests/support/each_record.hpp>

#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <thread>
#include <vector>

namespace handlepool::test {
namespace {

using namespace detail;
using value_type = std::uint64_t;
using queue_type = removal_queue<pool_config<default_layout, default_policy>>;
using removals_chain = removal_chain<default_policy>;
using records = std::vector<value_type>;

constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

std::size_t push(queue_type& queue, removals_chain& shard, value_type first, value_type last) {
    std::size_t pushed = 0;
    for (; first != last; ++first) {
        pushed += queue.push(shard, first) ? 1U : 0U;
    }
    return pushed;
}

records drain(queue_type& queue, removals_chain& shard) {
    records drained;
    queue.look(shard);
    queue.drain(shard, each_record([&](value_type record) { drained.push_back(record); }));
    return drained;
}

records sequence(value_type first, value_type last) {
    records all(last - first);
    std::iota(all.begin(), all.end(), first);
    return all;
}

class removal_queue_test : public testing::TestWithParam<std::size_t> {
protected:
    std::size_t chunk_size = GetParam();
};
INSTANTIATE_TEST_SUITE_P(chunks_of, removal_queue_test, testing::Values(1, 2, 3, 64));

TEST_P(removal_queue_test, records_come_out_in_the_order_in_which_they_went_in) {
    queue_type queue("queue", 100, chunk_size, unlimited);
    removals_chain shard;
    EXPECT_EQ(push(queue, shard, 0, 10), 10U);
    EXPECT_EQ(drain(queue, shard), sequence(0, 10));
    EXPECT_EQ(drain(queue, shard), records{});
    EXPECT_EQ(push(queue, shard, 10, 25), 15U);
    EXPECT_EQ(drain(queue, shard), sequence(10, 25));
}

TEST_P(removal_queue_test, a_push_past_the_limit_fails_and_leaves_the_others_alone) {
    for (const std::size_t limit : {1U, 2U, 5U}) {
        queue_type queue("queue", 100, chunk_size, limit);
        removals_chain shard;
        for (int round = 0; round != 5; ++round) {
            EXPECT_EQ(push(queue, shard, 0, 20), limit);
            EXPECT_FALSE(queue.push(shard, 99));
            EXPECT_EQ(drain(queue, shard), sequence(0, limit));
            queue.recycle();
        }
    }
}

// So that what is kept of a removal can be kept under its position.
TEST_P(removal_queue_test, who_puts_a_record_in_and_who_takes_it_out_know_its_position) {
    queue_type queue("queue", 10, chunk_size, unlimited);
    removals_chain shard;
    std::map<std::uint32_t, value_type> waiting;
    value_type next = 0;
    for (int round = 0; round != 20; ++round) {
        for (std::size_t i = 0; i != chunk_size + 1; ++i, ++next) {
            ASSERT_TRUE(queue.push(shard, next, unlimited, [&](std::uint32_t position) {
                EXPECT_LT(position, 10 * chunk_size);
                EXPECT_TRUE(waiting.emplace(position, next).second) << "two records at one position";
            }));
        }
        queue.look(shard);
        queue.limit(shard, chunk_size);
        queue.drain(shard, [&](auto record, std::size_t count, std::uint32_t first) {
            for (std::uint32_t i = 0; i != count; ++i) {
                const auto found = waiting.extract(first + i);
                ASSERT_TRUE(found);
                EXPECT_EQ(found.mapped(), record(i));
            }
        });
        queue.recycle();
        ASSERT_EQ(waiting.size(), shard.pending());
        if (round % 3 == 2) {
            queue.look(shard);
            queue.drain(shard, each_record([](value_type) {}));
            queue.recycle();
            waiting.clear();
        }
    }
    queue_type full("queue", 10, chunk_size, 1);
    removals_chain other;
    EXPECT_TRUE(full.push(other, 1));
    EXPECT_FALSE(full.push(other, 2, unlimited, [](std::uint32_t) { ADD_FAILURE() << "it was refused"; }));
}

TEST_P(removal_queue_test, each_shard_has_the_limit_for_itself) {
    queue_type queue("queue", 100, chunk_size, 3);
    removals_chain one;
    removals_chain other;
    EXPECT_EQ(push(queue, one, 0, 9), 3U);
    EXPECT_EQ(push(queue, other, 10, 19), 3U);
    EXPECT_EQ(drain(queue, other), sequence(10, 13));
    EXPECT_EQ(drain(queue, one), sequence(0, 3));
}

TEST_P(removal_queue_test, a_push_fails_when_the_memory_is_used_up_and_works_again_after_recycle) {
    queue_type queue("queue", 4, chunk_size, unlimited);
    removals_chain shard;
    const std::size_t all = 4 * chunk_size;
    EXPECT_EQ(push(queue, shard, 0, all + 5), all);
    EXPECT_EQ(drain(queue, shard), sequence(0, all));
    EXPECT_FALSE(queue.push(shard, 99));
    queue.recycle();
    EXPECT_EQ(push(queue, shard, 100, 100 + all), all - chunk_size); // the shard still stands on one chunk
    EXPECT_EQ(drain(queue, shard), sequence(100, 100 + all - chunk_size));
}

TEST_P(removal_queue_test, memory_is_used_again_for_ever) {
    queue_type queue("queue", 5, chunk_size, unlimited);
    removals_chain shards[2];
    for (value_type round = 0; round != 200; ++round) {
        for (auto& shard : shards) {
            ASSERT_EQ(push(queue, shard, round, round + chunk_size), chunk_size);
        }
        for (auto& shard : shards) {
            ASSERT_EQ(drain(queue, shard), sequence(round, round + chunk_size));
        }
        queue.recycle();
    }
}

TEST_P(removal_queue_test, drain_takes_what_is_there_when_it_begins) {
    queue_type queue("queue", 100, chunk_size, unlimited);
    removals_chain shard;
    push(queue, shard, 0, 5);
    records drained;
    queue.look(shard);
    queue.drain(shard, each_record([&](value_type record) {
                    drained.push_back(record);
                    queue.push(shard, record + 100); // a destructor that erases: else this would never end
                }));
    EXPECT_EQ(drained, sequence(0, 5));
    EXPECT_EQ(drain(queue, shard), sequence(100, 105));
}

TEST_P(removal_queue_test, after_reset_it_is_empty) {
    queue_type queue("queue", 4, chunk_size, unlimited);
    removals_chain shard;
    push(queue, shard, 0, 1000);
    queue.reset();
    shard.records.reset();
    shard.drained.store(shard.queued.load());
    EXPECT_EQ(drain(queue, shard), records{});
    EXPECT_EQ(push(queue, shard, 0, 1000), 4 * chunk_size);
    EXPECT_EQ(drain(queue, shard), sequence(0, 4 * chunk_size));
}

TEST_P(removal_queue_test, records_of_a_running_producer_arrive_complete_and_in_order) {
    constexpr value_type count = 20'000;
    queue_type queue("queue", 8, chunk_size, 50);
    removals_chain shard;
    // Plain: the queue carries it from the producer to the consumer.
    std::vector<value_type> payload(count);
    std::jthread producer([&] {
        for (value_type record = 0; record != count;) {
            payload[record] = record * 3;
            if (queue.push(shard, record)) {
                ++record;
            } else {
                std::this_thread::yield();
            }
        }
    });
    value_type expected = 0;
    while (expected != count) {
        queue.look(shard);
        queue.drain(shard, each_record([&](value_type record) {
                        ASSERT_EQ(record, expected);
                        ASSERT_EQ(payload[record], record * 3);
                        ++expected;
                    }));
        queue.recycle();
        std::this_thread::yield();
    }
}

struct no_tries : default_policy {
    static constexpr std::size_t removal_claim_tries = 0;
};

TEST(removal_queue_tries_test, a_push_without_a_try_fails_when_it_needs_room) {
    removal_queue<pool_config<default_layout, no_tries>> queue("queue", 4, 2, unlimited);
    removal_chain<no_tries> shard;
    EXPECT_FALSE(queue.push(shard, 1));
}

} // namespace
} // namespace handlepool::test

// SPDX-License-Identifier: MIT
#pragma once

#include "freelist_tools.hpp"
#include "random.hpp"
#include "repetitions.hpp"
#include "tabulate.hpp"
#include "threads.hpp"

#include <handlepool/freelist.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

/// What every freelist must do; each freelist's own test file runs it.
namespace handlepool::test {

template <class List>
class freelist_suite : public testing::Test {};

TYPED_TEST_SUITE_P(freelist_suite);

TYPED_TEST_P(freelist_suite, fresh_indices_go_out_in_order) {
    TypeParam list("list", {.index_limit = 10, .waiting_limit = 10});
    EXPECT_EQ(claim(list, 4), sequence(0, 4));
    EXPECT_EQ(claim(list, 3), sequence(4, 7));
    EXPECT_EQ(list.fresh(), 7U);
    EXPECT_EQ(list.in_use(), 7U);
    EXPECT_EQ(list.waiting(), 0U);
}

TYPED_TEST_P(freelist_suite, freed_indices_go_out_in_the_order_in_which_they_were_freed) {
    TypeParam list("list", {.index_limit = 10, .waiting_limit = 10});
    claim(list, 10);
    free_all(list, {7, 2, 9});
    free_all(list, {0, 4});
    EXPECT_EQ(list.waiting(), 5U);
    EXPECT_EQ(claim(list, 2), (indices{7, 2}));
    EXPECT_EQ(claim(list, 10), (indices{9, 0, 4}));
    EXPECT_EQ(list.waiting(), 0U);
    EXPECT_EQ(list.in_use(), 10U);
}

TYPED_TEST_P(freelist_suite, freed_indices_wait_for_publish) {
    TypeParam list("list", {.index_limit = 3, .waiting_limit = 3});
    claim(list, 3);
    list.release(1);
    EXPECT_EQ(claim(list, 1), indices{});
    EXPECT_EQ(list.waiting(), 0U);
    list.publish();
    EXPECT_EQ(claim(list, 1), indices{1});
}

TYPED_TEST_P(freelist_suite, no_more_than_the_index_limit_go_out) {
    TypeParam list("list", {.index_limit = 7, .waiting_limit = 7});
    EXPECT_EQ(list.limit(), 7U);
    EXPECT_EQ(claim(list, 5).size(), 5U);
    EXPECT_EQ(claim(list, 5), (indices{5, 6}));
    EXPECT_EQ(claim(list, 5), indices{});
    EXPECT_EQ(list.fresh(), 7U);
}

TYPED_TEST_P(freelist_suite, no_more_than_the_in_use_limit_are_in_use) {
    TypeParam list("list", {.index_limit = 100, .waiting_limit = 100});
    EXPECT_EQ(claim(list, 10, 6).size(), 6U);
    EXPECT_EQ(claim(list, 1, 6).size(), 0U);
    EXPECT_EQ(claim(list, 5, 7), indices{6});
    free_all(list, {0, 1, 2});
    // Freed ones count no more, whether they are handed out again or fresh ones are.
    EXPECT_EQ(claim(list, 10, 6), (indices{0, 1}));
    EXPECT_EQ(list.in_use(), 6U);
    EXPECT_EQ(claim(list, 1, 6), indices{});
    EXPECT_EQ(claim(list, 1, 0), indices{});
    EXPECT_EQ(claim(list, 5, 8), (indices{2, 7})); // freed ones first
}

TYPED_TEST_P(freelist_suite, a_limit_below_what_is_in_use_refuses) {
    TypeParam list("list", {.index_limit = 100, .waiting_limit = 100});
    claim(list, 10);
    EXPECT_EQ(claim(list, 1, 3), indices{});
    free_all(list, {0});
    EXPECT_EQ(claim(list, 1, 3), indices{});
    EXPECT_EQ(claim(list, 1, 10), indices{0});
}

TYPED_TEST_P(freelist_suite, an_index_goes_out_again_after_exactly_the_reuse_delay) {
    constexpr std::uint32_t limit = 20;
    for (std::size_t delay = 0; delay != 8; ++delay) {
        TypeParam list("list", {.index_limit = limit, .waiting_limit = limit, .reuse_delay = delay});
        claim(list, limit); // no fresh ones are left
        for (std::uint32_t freed = 0; freed != delay; ++freed) {
            free_all(list, {freed});
            EXPECT_EQ(claim(list, 1), indices{}) << "after " << freed << " others";
        }
        free_all(list, {limit - 1});
        EXPECT_EQ(claim(list, limit), indices{delay == 0 ? limit - 1 : 0});
        EXPECT_EQ(claim(list, limit), indices{});
        EXPECT_EQ(list.smallest_reuse_distance(), delay);
    }
}

TYPED_TEST_P(freelist_suite, a_big_claim_stops_at_the_reuse_delay) {
    TypeParam list("list", {.index_limit = 20, .waiting_limit = 20, .reuse_delay = 5});
    claim(list, 20);
    free_all(list, sequence(0, 12));
    EXPECT_EQ(claim(list, 20), sequence(0, 7));
    EXPECT_EQ(list.waiting(), 5U);
}

TYPED_TEST_P(freelist_suite, fresh_indices_go_out_while_freed_ones_are_delayed) {
    TypeParam list("list", {.index_limit = 20, .waiting_limit = 20, .reuse_delay = 2});
    claim(list, 10);
    free_all(list, {3, 4});
    EXPECT_EQ(claim(list, 1), indices{10});
    free_all(list, {5});
    EXPECT_EQ(claim(list, 2), (indices{3, 11}));
}

TYPED_TEST_P(freelist_suite, the_smallest_reuse_distance_is_remembered) {
    TypeParam list("list", {.index_limit = 8, .waiting_limit = 8});
    EXPECT_EQ(list.smallest_reuse_distance(), std::numeric_limits<std::size_t>::max());
    claim(list, 8);
    EXPECT_EQ(list.smallest_reuse_distance(), std::numeric_limits<std::size_t>::max());
    free_all(list, sequence(0, 6));
    claim(list, 2);
    EXPECT_EQ(list.smallest_reuse_distance(), 4U);
    free_all(list, {0, 1});
    claim(list, 1);
    EXPECT_EQ(list.smallest_reuse_distance(), 4U);
    claim(list, 5);
    EXPECT_EQ(list.smallest_reuse_distance(), 0U);
}

TYPED_TEST_P(freelist_suite, without_a_try_nothing_is_claimed) {
    TypeParam list("list", {.index_limit = 8, .waiting_limit = 8});
    std::uint32_t out = 99;
    EXPECT_EQ(list.claim(&out, 1, 8, 0), 0U);
    EXPECT_EQ(out, 99U);
    EXPECT_EQ(list.claim(&out, 1, 8, 16), 1U);
    EXPECT_EQ(out, 0U);
}

TYPED_TEST_P(freelist_suite, reset_makes_it_new) {
    TypeParam list("list", {.index_limit = 8, .waiting_limit = 8, .reuse_delay = 1});
    claim(list, 8);
    free_all(list, {1, 2, 3});
    claim(list, 1);
    list.release(5); // not published
    list.reset(0);
    EXPECT_EQ(list.in_use(), 0U);
    EXPECT_EQ(list.waiting(), 0U);
    EXPECT_EQ(claim(list, 8), sequence(0, 8));
    free_all(list, {6, 7});
    EXPECT_EQ(claim(list, 8), indices{6});
}

TYPED_TEST_P(freelist_suite, reset_with_all_in_use_gives_nothing_out) {
    TypeParam list("list", {.index_limit = 8, .waiting_limit = 8});
    list.reset(8);
    EXPECT_EQ(list.in_use(), 8U);
    EXPECT_EQ(list.fresh(), 8U);
    EXPECT_EQ(claim(list, 1), indices{});
}

/// Compares with a queue that is obviously right.
TYPED_TEST_P(freelist_suite, random_operations_agree_with_a_simple_queue) {
    random_source random;
    for (const std::uint32_t limit : {1U, 2U, 3U, 7U, 64U, 100U}) {
        const std::size_t delay = random.below(limit);
        TypeParam list("list", {.index_limit = limit, .waiting_limit = limit, .reuse_delay = delay});
        indices held;
        indices waiting; // in the order in which they were freed
        std::uint32_t fresh = 0;
        for (int step = 0; step != 3000; ++step) {
            if (random.one_in(2)) {
                const std::size_t wanted = 1 + random.below(limit);
                const std::size_t in_use_limit = random.below(2 * limit);
                const std::size_t room = in_use_limit > held.size() ? in_use_limit - held.size() : 0;
                const std::size_t most = std::min(wanted, room);
                const std::size_t freed = std::min(most, waiting.size() - std::min(waiting.size(), delay));
                const auto end = waiting.begin() + static_cast<std::ptrdiff_t>(freed);
                indices expected(waiting.begin(), end);
                waiting.erase(waiting.begin(), end);
                for (; expected.size() != most && fresh != limit; ++fresh) {
                    expected.push_back(fresh);
                }
                ASSERT_EQ(claim(list, wanted, in_use_limit), expected);
                held.insert(held.end(), expected.begin(), expected.end());
            } else {
                std::shuffle(held.begin(), held.end(), std::mt19937_64(random.bits()));
                indices freed(held.end() - static_cast<std::ptrdiff_t>(random.below(held.size() + 1)),
                              held.end());
                held.resize(held.size() - freed.size());
                free_all(list, freed);
                waiting.insert(waiting.end(), freed.begin(), freed.end());
            }
            ASSERT_EQ(list.in_use(), held.size());
            ASSERT_EQ(list.waiting(), waiting.size());
            ASSERT_EQ(list.fresh(), fresh);
        }
    }
}

/// Consumers claim and hand back; the one producer frees. Each index carries a mark of who has it, and when
/// it was freed.
template <class List>
class freelist_traffic {
public:
    freelist_traffic(List& list, std::size_t limit, std::size_t in_use_limit, std::size_t delay)
        : list_(list), in_use_limit_(in_use_limit), delay_(delay), taken_(limit), freed_at_(limit) {}

    void run(random_source& random, std::size_t consumers, int claims_each) {
        auto engines = tabulate(consumers, [&](std::size_t) { return random.fork(); });
        const auto consume = [&](std::size_t thread) { this->consume(engines[thread], claims_each); };
        in_threads(consumers, consume, [this] {
            produce();
            std::this_thread::yield();
        });
        produce();
        EXPECT_EQ(handed_out_twice_, 0U);
        EXPECT_EQ(over_the_limit_, 0U);
        EXPECT_EQ(too_early_, 0U);
        EXPECT_EQ(list_.in_use(), 0U) << "indices were lost";
        EXPECT_EQ(list_.waiting(), list_.fresh());
        EXPECT_GT(freed_, taken_.size()) << "no index went round";
    }

private:
    void consume(std::mt19937_64& engine, int claims) {
        indices mine(4);
        for (int won = 0; won != claims;) {
            const std::size_t count = list_.claim(mine.data(), 1 + engine() % mine.size(), in_use_limit_);
            if (count == 0) {
                std::this_thread::yield(); // it is the producer's turn
                continue;
            }
            ++won;
            if (held_.fetch_add(count, std::memory_order::relaxed) + count > in_use_limit_) {
                ++over_the_limit_;
            }
            // those freed at the time of the claim, or more
            const std::uint64_t freed = freed_.load(std::memory_order::relaxed);
            for (std::size_t k = 0; k != count; ++k) {
                if (taken_[mine[k]].exchange(true, std::memory_order::relaxed)) {
                    ++handed_out_twice_;
                }
                if (const auto at = freed_at_[mine[k]]; at != 0 && freed - at < delay_) {
                    ++too_early_;
                }
            }
            const std::scoped_lock lock(mutex_);
            returned_.insert(returned_.end(), mine.begin(),
                             mine.begin() + static_cast<std::ptrdiff_t>(count));
        }
    }

    void produce() {
        indices back;
        {
            const std::scoped_lock lock(mutex_);
            back.swap(returned_);
        }
        for (const auto index : back) {
            taken_[index].store(false, std::memory_order::relaxed);
            freed_at_[index] = freed_.fetch_add(1, std::memory_order::relaxed) + 1;
            held_.fetch_sub(1, std::memory_order::relaxed);
            list_.release(index);
        }
        list_.publish();
    }

    List& list_;
    std::size_t in_use_limit_;
    std::size_t delay_;
    std::vector<std::atomic<bool>> taken_;
    // Plain: the freelist's own order must carry it from the producer to the consumer. So the counters beside
    // it are relaxed.
    std::vector<std::uint64_t> freed_at_;
    std::atomic<std::uint64_t> freed_{0};
    std::atomic<std::size_t> held_{0};
    std::atomic<std::uint64_t> handed_out_twice_{0};
    std::atomic<std::uint64_t> over_the_limit_{0};
    std::atomic<std::uint64_t> too_early_{0};
    std::mutex mutex_;
    indices returned_;
};

TYPED_TEST_P(freelist_suite, one_consumer_and_the_producer_lose_nothing) {
    random_source random;
    TypeParam list("list", {.index_limit = 40, .waiting_limit = 40, .reuse_delay = 5});
    freelist_traffic<TypeParam>(list, 40, 30, 5).run(random, 1, support::repetitions(20'000));
}

TYPED_TEST_P(freelist_suite, several_consumers_get_each_index_once_and_never_too_early) {
    random_source random;
    for (const std::size_t limit : {3U, 7U, 61U}) { // small ones lap, and not at a power of two
        const std::size_t delay = limit / 3;
        TypeParam list("list", {.index_limit = limit, .waiting_limit = limit, .reuse_delay = delay});
        freelist_traffic<TypeParam>(list, limit, limit - delay, delay)
            .run(random, 3, support::repetitions(10'000));
    }
}

REGISTER_TYPED_TEST_SUITE_P(
    freelist_suite, fresh_indices_go_out_in_order, freed_indices_go_out_in_the_order_in_which_they_were_freed,
    freed_indices_wait_for_publish, no_more_than_the_index_limit_go_out,
    no_more_than_the_in_use_limit_are_in_use, a_limit_below_what_is_in_use_refuses,
    an_index_goes_out_again_after_exactly_the_reuse_delay, a_big_claim_stops_at_the_reuse_delay,
    fresh_indices_go_out_while_freed_ones_are_delayed, the_smallest_reuse_distance_is_remembered,
    without_a_try_nothing_is_claimed, reset_makes_it_new, reset_with_all_in_use_gives_nothing_out,
    random_operations_agree_with_a_simple_queue, one_consumer_and_the_producer_lose_nothing,
    several_consumers_get_each_index_once_and_never_too_early);

} // namespace handlepool::test

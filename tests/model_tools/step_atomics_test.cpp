// SPDX-License-Identifier: MIT
#include <handlepool/fifo_freelist.hpp>
#include <handlepool/freelist.hpp>

#include <gtest/gtest.h>
#include <support/steps/step_atomics.hpp>
#include <support/steps/tiny_policy.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <type_traits>

// The fixture that other tests rely on: one that never stops anything would make them all pass.
namespace handlepool::test {
namespace {

using namespace detail;

TEST(stepper_test, stops_before_each_access_in_turn) {
    for (std::size_t step = 0; step != 4; ++step) {
        support::step_atomic<int> word{0};
        support::stepper thread(step, [&] {
            for (int value = 1; value != 4; ++value) {
                word.store(value);
            }
        });
        EXPECT_EQ(thread.stopped(), step != 3);
        EXPECT_EQ(thread.steps(), step);
        EXPECT_EQ(word.load(), static_cast<int>(step));
        thread.finish();
        EXPECT_EQ(word.load(), 3);
        EXPECT_EQ(thread.steps(), 3U);
    }
}

TEST(stepper_test, goes_on_step_by_step) {
    support::step_atomic<int> word{0};
    support::stepper thread(0, [&] {
        word.fetch_add(1);
        word.fetch_add(1);
        word.fetch_add(1);
    });
    thread.advance();
    EXPECT_EQ(word.load(), 1);
    thread.advance(2);
    EXPECT_EQ(word.load(), 3);
    EXPECT_FALSE(thread.stopped());
}

TEST(stepper_test, every_kind_of_access_is_a_step) {
    support::step_atomic<int> word{0};
    support::stepper thread(support::stepper::never, [&] {
        word.load();
        word.store(1);
        word.exchange(2);
        word.fetch_add(1);
        int expected = 3;
        word.compare_exchange_strong(expected, 4, std::memory_order::seq_cst, std::memory_order::seq_cst);
        word.compare_exchange_weak(expected, 5, std::memory_order::seq_cst, std::memory_order::seq_cst);
        expected = 4;
        word.compare_exchange_weak(expected, 6, std::memory_order::seq_cst);
    });
    EXPECT_EQ(thread.steps(), 7U);
    EXPECT_EQ(word.load(), 6);
}

TEST(stepper_test, other_threads_are_neither_stopped_nor_counted) {
    support::step_atomic<int> word{0};
    support::stepper one(0, [&] { word.fetch_add(1); });
    support::stepper other(1, [&] {
        word.fetch_add(10);
        word.fetch_add(10);
    });
    word.fetch_add(100);
    EXPECT_EQ(word.load(), 110);
    EXPECT_EQ(one.steps(), 0U);
    EXPECT_EQ(other.steps(), 1U);
}

TEST(stepper_test, a_thread_left_stopped_ends_with_its_stepper) {
    support::step_atomic<int> word{0};
    {
        const support::stepper left(0, [&] { word.store(1); });
        EXPECT_EQ(word.load(), 0);
    }
    EXPECT_EQ(word.load(), 1);
}

TEST(stepper_test, body_stops_itself) {
    support::step_atomic<int> word{0};
    std::size_t taken = 0;
    support::stepper thread(support::stepper::never, [&] {
        word.store(1);
        support::stepper::stop_after(1);
        word.store(2);
        taken = support::stepper::taken();
        word.store(3);
        word.store(4);
    });
    EXPECT_TRUE(thread.stopped());
    EXPECT_FALSE(thread.ended());
    EXPECT_EQ(word.load(), 2);
    EXPECT_EQ(taken, 2U);
    thread.advance(support::stepper::never);
    EXPECT_TRUE(thread.ended());
    EXPECT_EQ(word.load(), 4);
}

TEST(stepper_test, released_body_is_not_stopped_again) {
    support::step_atomic<int> word{0};
    support::stepper thread(0, [&] {
        word.store(1);
        support::stepper::stop_after(0);
        word.store(2);
    });
    EXPECT_TRUE(thread.stopped());
    thread.release();
    thread.finish();
    EXPECT_EQ(word.load(), 2);
}

TEST(stepper_test, waits_no_longer_than_its_patience) {
    std::mutex blocked;
    std::unique_lock lock(blocked);
    support::stepper thread(
        support::stepper::never, [&] { const std::scoped_lock wanted(blocked); },
        std::chrono::milliseconds(10));
    EXPECT_FALSE(thread.stopped());
    EXPECT_FALSE(thread.ended());
    lock.unlock();
    thread.finish();
    EXPECT_TRUE(thread.ended());
}

// The claim of a freelist of step_policy is made of such accesses: three loads, a compare-exchange, and its
// note of the distance.
TEST(stepper_test, reaches_into_the_parts_of_a_pool) {
    using list_type = fifo_freelist<support::tiny_policy<1, support::step_policy>>;
    static_assert(freelist<list_type>);
    list_type list("list", {.index_limit = 4, .waiting_limit = 4});
    std::uint32_t out = 0;
    support::stepper thread(3, [&] { list.claim(&out, 1, 4); });
    EXPECT_TRUE(thread.stopped());
    EXPECT_EQ(list.fresh(), 0U);
    thread.finish();
    EXPECT_EQ(list.fresh(), 1U);
}

static_assert(std::is_trivially_destructible_v<support::step_atomic<std::uint64_t>>,
              "they live in a virtual_array");

} // namespace
} // namespace handlepool::test

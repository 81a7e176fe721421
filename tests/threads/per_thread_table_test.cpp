// SPDX-License-Identifier: MIT
#include <handlepool/detail/threads/per_thread_table.hpp>
#include <handlepool/detail/threads/pin.hpp>
#include <handlepool/error.hpp>
#include <handlepool/policy.hpp>

#include <gtest/gtest.h>
#include <tests/support/chosen_module.hpp>
#include <tests/support/threads.hpp>

#include <cstddef>
#include <cstdint>
#include <latch>
#include <set>
#include <vector>

namespace handlepool::test {
namespace {

using namespace detail;

/// Lets a test say which thread it is.
struct chosen_thread : default_policy {
    inline static thread_local std::uint32_t chosen = 0;
    static std::uint32_t thread_index(std::uint64_t) noexcept { return chosen; }
};

class per_thread_table_test : public testing::Test {
protected:
    pin<chosen_thread>* as_thread(std::uint32_t index) {
        chosen_thread::chosen = index;
        return pins.mine();
    }
    pin<chosen_thread>& pin_of(std::uint32_t index) {
        chosen_thread::chosen = index;
        return pins.mine_or_throw("a test");
    }

    per_thread_table<pin<chosen_thread>> pins{"pins", 8};
};

TEST_F(per_thread_table_test, a_thread_always_gets_its_own_entry) {
    auto* const first = as_thread(0);
    auto* const second = as_thread(1);
    EXPECT_NE(first, second);
    EXPECT_EQ(as_thread(0), first);
    EXPECT_EQ(&pins[1], second);
}

TEST_F(per_thread_table_test, counts_the_entries_up_to_the_last_that_was_used) {
    EXPECT_EQ(pins.count(), 0U);
    as_thread(2);
    EXPECT_EQ(pins.count(), 3U);
    as_thread(0);
    EXPECT_EQ(pins.count(), 3U);
    as_thread(7);
    EXPECT_EQ(pins.count(), 8U);
}

TEST_F(per_thread_table_test, a_thread_past_the_table_gets_no_entry_and_is_not_counted) {
    EXPECT_EQ(pins.size(), 8U);
    EXPECT_EQ(as_thread(8), nullptr);
    EXPECT_EQ(as_thread(thread_index_limit), nullptr);
    EXPECT_EQ(pins.count(), 0U);
}

TEST_F(per_thread_table_test, says_why_a_thread_gets_no_entry) {
    EXPECT_EQ(&pin_of(1), &pins[1]);
    EXPECT_THROW(pin_of(8), too_many_threads);
}

TEST_F(per_thread_table_test, sums_over_the_entries_that_were_used) {
    const auto guards = [](const pin<chosen_thread>& one) { return one.guards(); };
    EXPECT_EQ(pins.sum(guards), 0U);
    pin_of(1).raise();
    pin_of(3).raise();
    pin_of(3).raise();
    EXPECT_EQ(pins.sum(guards), 3U);
}

TEST(per_thread_table_modules_test, code_under_another_numbering_of_threads_gets_no_entry) {
    chosen_module::chosen = 1;
    per_thread_table<pin<chosen_module>> pins("pins", 8);
    auto* const mine = pins.mine();
    EXPECT_NE(mine, nullptr);
    EXPECT_TRUE(pins.is_of_this_module());

    chosen_module::chosen = 2;
    EXPECT_EQ(pins.mine(), nullptr);
    EXPECT_EQ(pins.thread_index(), foreign_thread_index);
    EXPECT_FALSE(pins.is_of_this_module());
    EXPECT_THROW(pins.mine_or_throw("a test"), foreign_module);
    EXPECT_EQ(pins.count(), 1U);

    chosen_module::chosen = 1;
    EXPECT_EQ(pins.mine(), mine);
}

TEST(per_thread_table_threads_test, threads_that_live_together_get_different_entries) {
    constexpr std::size_t threads = 8;
    per_thread_table<pin<default_policy>> pins("pins", 1000);
    std::vector<pin<default_policy>*> found(threads);
    std::latch all_have_one(threads);
    in_threads(threads, [&](std::size_t i) {
        found[i] = pins.mine();
        pins.mine()->raise();
        all_have_one.arrive_and_wait();
    });
    EXPECT_EQ(std::set(found.begin(), found.end()).size(), threads);
    EXPECT_GE(pins.count(), threads);
    EXPECT_EQ(pins.sum([](const auto& one) { return one.guards(); }), std::uint64_t{threads});
}

} // namespace
} // namespace handlepool::test

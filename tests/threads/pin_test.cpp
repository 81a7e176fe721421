// SPDX-License-Identifier: MIT
#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/threads/pin.hpp>
#include <handlepool/policy.hpp>

#include <gtest/gtest.h>

#include <type_traits>

namespace handlepool::test {
namespace {

using namespace detail;

TEST(pin_test, is_raised_from_the_first_guard_to_the_end_of_the_last) {
    pin<default_policy> mine;
    EXPECT_FALSE(mine.is_raised());
    EXPECT_TRUE(mine.raise());
    EXPECT_FALSE(mine.raise()); // there is one already
    EXPECT_EQ(mine.guards(), 2U);
    mine.lower();
    EXPECT_TRUE(mine.is_raised());
    mine.lower();
    EXPECT_FALSE(mine.is_raised());
    EXPECT_TRUE(mine.raise());
}

TEST(pin_test, is_entered_once_its_thread_has_come) {
    pin<default_policy> mine;
    EXPECT_FALSE(mine.is_entered());
    mine.enter(3);
    EXPECT_TRUE(mine.is_entered());
    EXPECT_EQ(mine.guards(), 0U);
}

// Threads' pins share no cache line.
static_assert(alignof(pin<default_policy>) >= cache_line);
static_assert(std::is_trivially_destructible_v<pin<default_policy>>, "pins live in a virtual_array");

} // namespace
} // namespace handlepool::test

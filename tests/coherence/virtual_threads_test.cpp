// SPDX-License-Identifier: MIT
#include "virtual_threads.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace handlepool::coherence {
namespace {

using testing::ElementsAre;

std::vector<std::uint32_t> order_of_turns(std::uint64_t seed) {
    virtual_threads threads(seed);
    std::vector<std::uint32_t> order;
    threads.run(0, 4, [&](std::uint32_t number) {
        for (int i = 0; i != 25; ++i) {
            threads.turn();
            order.push_back(number);
        }
    });
    return order;
}

TEST(virtual_threads, AllRunToTheirEnds) {
    const std::vector<std::uint32_t> order = order_of_turns(1);
    for (std::uint32_t number = 0; number != 4; ++number) {
        EXPECT_EQ(std::ranges::count(order, number), 25);
    }
}

TEST(virtual_threads, TheOrderFollowsFromTheSeed) {
    EXPECT_EQ(order_of_turns(1), order_of_turns(1));
    EXPECT_NE(order_of_turns(1), order_of_turns(2));
}

TEST(virtual_threads, TheyTakeTurns) {
    const std::vector<std::uint32_t> order = order_of_turns(1);
    EXPECT_FALSE(std::ranges::is_sorted(order));
}

TEST(virtual_threads, EachKnowsItsNumber) {
    virtual_threads threads(1);
    EXPECT_EQ(threads.running(), virtual_threads::none);
    std::vector<bool> right;
    threads.run(3, 6, [&](std::uint32_t number) {
        threads.turn();
        right.push_back(threads.running() == number);
    });
    EXPECT_THAT(right, ElementsAre(true, true, true));
    EXPECT_EQ(threads.running(), virtual_threads::none);
}

TEST(virtual_threads, OneThatSleepsGoesOnWhenItIsWoken) {
    virtual_threads threads(1);
    bool ready = false;
    bool seen = false;
    threads.run(0, 2, [&](std::uint32_t number) {
        if (number == 0) {
            if (!ready) {
                threads.sleep();
            }
            seen = ready;
        } else {
            for (int i = 0; i != 100; ++i) {
                threads.turn();
            }
            ready = true;
            threads.wake(0);
        }
    });
    EXPECT_TRUE(seen);
}

TEST(virtual_threads, RunsCanFollowEachOther) {
    virtual_threads threads(1);
    std::vector<std::uint32_t> ran;
    threads.run(0, 1, [&](std::uint32_t number) { ran.push_back(number); });
    threads.run(5, 5, [&](std::uint32_t number) { ran.push_back(number); });
    threads.run(7, 8, [&](std::uint32_t number) { ran.push_back(number); });
    EXPECT_THAT(ran, ElementsAre(0U, 7U));
}

TEST(virtual_threads_death_test, ASleepWithoutEndEndsTheProgram) {
    EXPECT_DEATH(
        {
            virtual_threads threads(1);
            threads.run(0, 2, [&](std::uint32_t) { threads.sleep(); });
        },
        "sleep");
}

} // namespace
} // namespace handlepool::coherence

// SPDX-License-Identifier: MIT

// Threads that work together, and what ends it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <support/threads/thread_team.hpp>
#include <tests/support/message_of.hpp>

#include <atomic>
#include <cstddef>
#include <functional>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace handlepool::support {
namespace {

using testing::ThrowsMessage;

std::string error_of(thread_team& threads, const std::function<void(std::size_t)>& work) {
    return test::message_of([&] { threads.run(work); });
}

TEST(thread_team, each_thread_works_once_in_each_run) {
    constexpr std::size_t threads = 5;
    thread_team together(threads);
    EXPECT_EQ(together.size(), threads);
    std::vector<int> seen(threads);
    std::atomic<std::size_t> at_work = 0;
    for (int run = 1; run <= 40; ++run) {
        together.run([&](std::size_t thread) {
            ++at_work;
            ++seen[thread];
        });
        EXPECT_EQ(at_work.exchange(0), threads) << "not all of them had done their part";
        EXPECT_EQ(seen, std::vector<int>(threads, run));
    }
    EXPECT_FALSE(together.failed());
}

TEST(thread_team, may_have_nothing_to_do) {
    const thread_team idle(3);
    EXPECT_FALSE(idle.failed());
}

TEST(thread_team, far_more_threads_than_processors) {
    thread_team many(200);
    std::atomic<std::size_t> parts = 0;
    for (int run = 0; run < 5; ++run) {
        many.run([&](std::size_t) { ++parts; });
    }
    EXPECT_EQ(parts, 1000U);
}

TEST(thread_team, an_exception_in_one_thread_comes_out_when_all_have_done_their_part) {
    for (std::size_t round = 0; round < 100; ++round) {
        thread_team threads(8);
        std::atomic<std::size_t> parts = 0;
        const std::string error = error_of(threads, [&](std::size_t thread) {
            if (thread == round % 8) {
                throw std::runtime_error("from a thread");
            }
            ++parts;
        });
        ASSERT_EQ(error, "from a thread");
        ASSERT_EQ(parts, 7U);
        ASSERT_TRUE(threads.failed());
    }
}

TEST(thread_team, one_of_many_exceptions_comes_out) {
    thread_team threads(4);
    const std::string error =
        error_of(threads, [](std::size_t thread) { throw std::out_of_range(std::to_string(thread)); });
    EXPECT_EQ(error.size(), 1U) << error;
}

TEST(thread_team, a_thread_that_waits_for_one_that_failed_can_tell) {
    thread_team threads(2);
    EXPECT_EQ(error_of(threads,
                       [&](std::size_t thread) {
                           if (thread == 0) {
                               throw std::runtime_error("gone");
                           }
                           while (!threads.failed()) {
                               std::this_thread::yield();
                           }
                       }),
              "gone");
}

TEST(thread_team, the_calling_thread_may_take_part) {
    for (const std::size_t helpers : {0U, 1U, 4U}) {
        thread_team team(helpers);
        std::vector<std::thread::id> ids(helpers + 1);
        for (int run = 0; run < 10; ++run) {
            team.run_with_caller([&](std::size_t thread) { ids.at(thread) = std::this_thread::get_id(); });
        }
        EXPECT_EQ(ids.back(), std::this_thread::get_id());
        EXPECT_EQ(std::set(ids.begin(), ids.end()).size(), helpers + 1);
        const auto fail = [&](std::size_t thread) {
            if (thread == helpers) {
                throw std::runtime_error("from the caller");
            }
        };
        EXPECT_THAT([&] { team.run_with_caller(fail); },
                    ThrowsMessage<std::runtime_error>("from the caller"));
    }
}

TEST(thread_team, nobody_leaves_a_meeting_before_all_have_come) {
    thread_team team(5);
    std::atomic<std::size_t> arrived = 0;
    std::atomic<std::size_t> early = 0;
    for (int run = 0; run < 3; ++run) {
        arrived = 0;
        const auto meet_often = [&](std::size_t parts) {
            for (std::size_t meeting = 1; meeting <= 100; ++meeting) {
                ++arrived;
                team.meet();
                early += arrived < parts * meeting ? 1U : 0U;
            }
        };
        if (run == 1) {
            team.run_with_caller([&](std::size_t) { meet_often(6); });
        } else {
            team.run([&](std::size_t) { meet_often(5); });
        }
    }
    EXPECT_EQ(early, 0U);
}

TEST(thread_team, a_meeting_does_not_wait_for_one_that_failed) {
    thread_team team(3);
    EXPECT_EQ(error_of(team,
                       [&](std::size_t thread) {
                           if (thread == 0) {
                               throw std::runtime_error("gone");
                           }
                           team.meet();
                       }),
              "gone");
}

} // namespace
} // namespace handlepool::support

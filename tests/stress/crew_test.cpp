// Threads that work together, and what ends it.

#include "crew.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace handlepool::stress {
namespace {

// The text of what a run throws.
std::string error_of(crew& threads, const std::function<void(std::size_t)>& work) {
    try {
        threads.run(work);
    } catch (const std::exception& error) {
        return error.what();
    }
    return "nothing";
}

TEST(crew, each_thread_works_once_in_each_run) {
    constexpr std::size_t threads = 5;
    crew together(threads);
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

TEST(crew, may_have_nothing_to_do) {
    const crew idle(3);
    EXPECT_FALSE(idle.failed());
}

TEST(crew, far_more_threads_than_processors) {
    crew many(200);
    std::atomic<std::size_t> parts = 0;
    for (int run = 0; run < 5; ++run) {
        many.run([&](std::size_t) { ++parts; });
    }
    EXPECT_EQ(parts, 1000U);
}

TEST(crew, an_exception_in_one_thread_comes_out_when_all_have_done_their_part) {
    for (std::size_t round = 0; round < 100; ++round) {
        crew threads(8);
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

TEST(crew, one_of_many_exceptions_comes_out) {
    crew threads(4);
    const std::string error =
        error_of(threads, [](std::size_t thread) { throw std::out_of_range(std::to_string(thread)); });
    EXPECT_EQ(error.size(), 1U) << error;
}

TEST(crew, a_thread_that_waits_for_one_that_failed_can_tell) {
    crew threads(2);
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

} // namespace
} // namespace handlepool::stress

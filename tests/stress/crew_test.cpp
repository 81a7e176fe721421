// Frames of work by several threads, and what ends them.

#include "checked_pool.hpp"
#include "frames.hpp"

#include <handlepool/error.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace handlepool::stress {
namespace {

const auto nothing_between = [](std::size_t) {};

// The text of what run_frames throws.
template <class Work, class Between>
std::string error_of(std::size_t threads, std::size_t frames, Work work, Between between) {
    try {
        run_frames(threads, frames, work, between);
    } catch (const std::exception& error) {
        return error.what();
    }
    return "nothing";
}

TEST(frames, each_thread_works_once_in_each_frame) {
    constexpr std::size_t threads = 5;
    constexpr std::size_t frames = 40;
    std::vector<std::vector<std::size_t>> seen(threads);
    std::vector<std::size_t> closed;
    std::atomic<std::size_t> at_work = 0;
    run_frames(
        threads, frames,
        [&](std::size_t thread, std::size_t frame, const std::atomic<bool>& failed) {
            ++at_work;
            EXPECT_FALSE(failed);
            seen[thread].push_back(frame);
        },
        [&](std::size_t frame) {
            EXPECT_EQ(at_work.exchange(0), threads) << "not all of them had done their part";
            closed.push_back(frame);
        });
    ASSERT_EQ(closed.size(), frames);
    for (std::size_t frame = 0; frame < frames; ++frame) {
        EXPECT_EQ(closed[frame], frame);
    }
    for (const auto& one : seen) {
        EXPECT_EQ(one, closed);
    }
}

TEST(frames, there_may_be_none) {
    const auto never = [](auto&&...) { ADD_FAILURE(); };
    run_frames(3, 0, never, never);
}

TEST(frames, far_more_threads_than_processors) {
    std::atomic<std::size_t> parts = 0;
    run_frames(200, 5, [&](std::size_t, std::size_t, const std::atomic<bool>&) { ++parts; }, nothing_between);
    EXPECT_EQ(parts, 1000U);
}

// Whoever looks at the failure for itself, instead of with all others, leaves them waiting: a matter of
// chance, so it is tried often.
TEST(frames, an_exception_in_one_thread_ends_the_run) {
    for (std::size_t round = 0; round < 300; ++round) {
        const std::size_t last = round % 3;
        std::size_t closed = 0;
        const std::string error = error_of(
            8, 5,
            [&](std::size_t thread, std::size_t frame, const std::atomic<bool>&) {
                EXPECT_LE(frame, last);
                if (thread == round % 8 && frame == last) {
                    throw std::runtime_error("from a thread");
                }
            },
            [&](std::size_t) { ++closed; });
        ASSERT_EQ(error, "from a thread");
        ASSERT_EQ(closed, last) << "the failed frame was closed like a whole one";
    }
}

TEST(frames, an_exception_between_frames_ends_the_run) {
    std::atomic<std::size_t> parts = 0;
    EXPECT_EQ(error_of(
                  3, 5, [&](std::size_t, std::size_t, const std::atomic<bool>&) { ++parts; },
                  [](std::size_t frame) {
                      if (frame == 1) {
                          throw std::runtime_error("between");
                      }
                  }),
              "between");
    EXPECT_EQ(parts, 6U);
}

TEST(frames, one_of_many_exceptions_comes_out) {
    const std::string error = error_of(
        4, 5,
        [](std::size_t thread, std::size_t, const std::atomic<bool>&) {
            throw std::out_of_range(std::to_string(thread));
        },
        nothing_between);
    EXPECT_EQ(error.size(), 1U) << error;
}

TEST(frames, a_thread_that_waits_for_one_that_failed_can_tell) {
    EXPECT_EQ(error_of(
                  2, 1,
                  [](std::size_t thread, std::size_t, const std::atomic<bool>& failed) {
                      if (thread == 0) {
                          throw std::runtime_error("gone");
                      }
                      while (!failed.load()) {
                          std::this_thread::yield();
                      }
                  },
                  nothing_between),
              "gone");
}

TEST(frames, a_pool_that_is_too_small_ends_the_run) {
    checked_pool pool({.name = "too small", .capacity = 50});
    std::vector<tally> tallies(4);
    const auto work = [&](std::size_t thread, std::size_t frame, const std::atomic<bool>&) {
        for (std::size_t i = 0; i < 10; ++i) {
            pool.create(frame * 100 + i, tallies[thread]);
        }
    };
    EXPECT_THROW(run_frames(4, 1000, work, [&](std::size_t) { pool.compact(); }), pool_exhausted);
    std::size_t created = 0;
    for (const tally& one : tallies) {
        created += one.created;
    }
    EXPECT_GE(created, 50U);
    EXPECT_EQ(pool.get().size(), created);
}

} // namespace
} // namespace handlepool::stress

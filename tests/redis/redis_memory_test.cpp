// SPDX-License-Identifier: MIT

// A log in Redis, in a program whose memory ends for a moment.

#include "redis_log_of_frames.hpp"

#include <gtest/gtest.h>
#include <tests/support/failing_new.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <vector>

namespace handlepool::test {
namespace {

class redis_log_without_memory : public redis_log_of_frames, public testing::WithParamInterface<shortage> {
protected:
    redis_log_without_memory() { serve(); }

    /// Calls it until it returns something; in the first call, memory ends.
    template <class Action>
    static auto repeat(memory_shortage& when, const Action& action) {
        decltype(action()) done{};
        when.interrupts([&] { done = action(); });
        while (!done) {
            done = action();
        }
        return done;
    }
};
INSTANTIATE_TEST_SUITE_P(memory, redis_log_without_memory, both_shortages, name_of_shortage);

TEST_P(redis_log_without_memory, is_followed_by_calls_that_are_repeated) {
    const auto log = begin();
    publish(*log, 2);
    const std::size_t allocations = with_each_allocation_failing(GetParam(), [&](memory_shortage& when) {
        auto source = follower();
        std::vector<frame_message> messages;
        messages.reserve(3);
        const auto read_all = [&] {
            while (source.frame() != 2U) {
                auto message = source.next(redis_patience);
                if (!message) {
                    return false;
                }
                messages.push_back(std::move(*message));
            }
            return true;
        };
        EXPECT_TRUE(repeat(when, read_all)) << source.problem();
        followed_game world;
        for (const frame_message& each : messages) {
            world.receive(each);
        }
        EXPECT_EQ(world.bytes(), reference_.bytes());
        EXPECT_EQ(world.snapshots(), 1U);
        EXPECT_EQ(world.deltas(), 2U);
    });
    EXPECT_GT(allocations, 20U);
}

TEST_P(redis_log_without_memory, is_taken_over_by_calls_that_are_repeated) {
    with_each_allocation_failing(GetParam(), [&](memory_shortage& when) {
        redis_follower log(server_->address(), "another game");
        EXPECT_TRUE(
            repeat(when, [&] { return log.try_take_over("the first", std::chrono::milliseconds(1)); }));
    });
}

/// The publisher's thread, which nobody sees, tries again.
TEST_P(redis_log_without_memory, is_written_on) {
    const auto log = begin({.most_waiting_bytes = 2'000});
    auto early = follower();
    followed_game world;
    for (std::size_t allocation = 0; allocation < 1'000; allocation += 20) {
        publish(*log);
        server_->pause();
        append(*log, 25); // a little more than may wait
        const std::uint64_t frame = game_.frame();
        memory_shortage when(GetParam(), allocation);
        when.begin();
        server_->go_on();
        const bool is_published = log->wait(frame, std::chrono::milliseconds(50)); // while memory is short
        when.end();
        ASSERT_TRUE(is_published || log->wait(frame, redis_patience)) << log->problem();
        expect_to_follow(early, world);
        auto late = follower();
        followed_game late_world;
        expect_to_follow(late, late_world);
        EXPECT_EQ(late_world.snapshots(), 1U);
    }
}

} // namespace
} // namespace handlepool::test

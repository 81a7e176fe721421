// SPDX-License-Identifier: MIT
#pragma once

#include "published_game.hpp"
#include "redis_server.hpp"

#include <handlepool/redis/redis_follower.hpp>
#include <handlepool/redis/redis_publisher.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace handlepool::test {

// Longer than any test takes, and shorter than any test could pass unnoticed: nothing waits so long.
constexpr auto redis_patience = std::chrono::seconds(60);
constexpr auto long_lease = std::chrono::hours(1);

/// A game whose frames are published, and what it was in the last of them.
class redis_log_of_frames : public testing::Test {
protected:
    void serve(std::vector<std::string> options = {}) {
        server_ = std::make_unique<redis_server>(std::move(options));
    }

    redis_follower follower(redis_follower_options options = {}) {
        return redis_follower(server_->address(), "a game", options);
    }
    redis_lease lease(std::chrono::milliseconds time_to_live = long_lease) {
        const auto taken = follower().try_take_over("the first", time_to_live);
        EXPECT_TRUE(taken);
        return taken.value();
    }
    std::unique_ptr<redis_publisher> publisher(const redis_lease& lease,
                                               redis_publisher_options options = {}) {
        return std::make_unique<redis_publisher>(server_->address(), "a game", lease, options);
    }
    /// Begins a log.
    std::unique_ptr<redis_publisher> begin(redis_publisher_options options = {}) {
        auto log = publisher(lease(), options);
        log->begin(game_.frame(), begin_reference());
        return log;
    }
    std::vector<std::byte> begin_reference() {
        auto bytes = game_.begin();
        reference_.receive({.is_snapshot = true, .frame = game_.frame(), .bytes = bytes});
        return bytes;
    }
    void append(redis_publisher& log, std::uint64_t frames = 1) {
        for (; frames != 0; --frames) {
            auto delta = game_.next();
            reference_.receive({.frame = game_.frame(), .bytes = delta});
            log.append(delta);
        }
    }
    void publish(redis_publisher& log, std::uint64_t frames = 1) {
        append(log, frames);
        ASSERT_TRUE(log.wait(game_.frame(), redis_patience)) << log.problem();
    }
    /// Follows up to the frame of the game, and compares all.
    void expect_to_follow(redis_follower& log, followed_game& world) {
        while (log.frame() != game_.frame()) {
            const auto message = log.next(redis_patience);
            ASSERT_TRUE(message) << log.problem();
            EXPECT_EQ(message->frame, log.frame());
            world.receive(*message);
        }
        EXPECT_EQ(world.frame(), game_.frame());
        EXPECT_EQ(world.bytes(), reference_.bytes());
    }
    void wait_for_snapshot(std::uint64_t frame) {
        const auto late = std::chrono::steady_clock::now() + redis_patience;
        while (server_->command({"HGET", "{a game}:log", "snapshot_frame"}) != std::to_string(frame)) {
            ASSERT_LT(std::chrono::steady_clock::now(), late);
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    }

    std::unique_ptr<redis_server> server_;
    published_game game_;
    followed_game reference_;
};

} // namespace handlepool::test

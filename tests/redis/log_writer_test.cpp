// SPDX-License-Identifier: MIT

// What the thread of a publisher does, step by step.

#include "redis_log_of_frames.hpp"

#include <gtest/gtest.h>
#include <src/redis/log_writer.hpp>
#include <tests/support/message_of.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>

namespace handlepool::test {
namespace {

using namespace std::chrono_literals;

class log_written_step_by_step : public redis_log_of_frames {
protected:
    void begin_log(const redis_lease& lease, redis_publisher_options options = {}) {
        writer_ = std::make_unique<detail::log_writer>(server_->address(), "a game", lease, options, queue_);
        writer_->begin(std::make_unique<detail::published_world>(
            begin_reference(), detail::frame_position{.frame = 0, .history = 77}));
        while (!writer_->end()) {
            writer_->step();
        }
    }
    void push_frame() {
        auto delta = game_.next();
        reference_.receive({.frame = game_.frame(), .bytes = delta});
        queue_.push(detail::read_published_delta(delta));
    }
    /// Until the log has a snapshot of this frame or a later one; returns how many steps have failed.
    unsigned step_to_snapshot(std::uint64_t frame) {
        const auto late = std::chrono::steady_clock::now() + redis_patience;
        unsigned errors = 0;
        while (std::stoull(server_->command({"HGET", "{a game}:log", "snapshot_frame"})) < frame) {
            try {
                const auto next = writer_->step();
                std::this_thread::sleep_until(std::min(next, std::chrono::steady_clock::now() + 10ms));
            } catch (const redis_error&) {
                ++errors;
            }
            if (std::chrono::steady_clock::now() > late) {
                ADD_FAILURE() << "there is no snapshot of frame " << frame;
                break;
            }
        }
        return errors;
    }
    std::string keys_of_snapshots(std::uint64_t frame) {
        return server_->command({"KEYS", "{a game}:snapshot:" + std::to_string(frame) + ":*"});
    }

    detail::delta_queue queue_;
    std::unique_ptr<detail::log_writer> writer_;
};

TEST_F(log_written_step_by_step, makes_a_snapshot_again_whose_pieces_are_lost_on_the_way) {
    serve();
    game_.grow(100'000); // for several pieces
    begin_log(lease(), {.snapshot_every = 1});
    push_frame();
    writer_->step(); // appends it, and begins
    writer_->step(); // the first piece
    const std::string key = keys_of_snapshots(1);
    ASSERT_NE(key, "");
    EXPECT_NE(server_->command({"TTL", key}), "-1") << "it is forgotten if this was the last one";
    server_->command({"DEL", key});
    EXPECT_EQ(step_to_snapshot(1), 0U);
    EXPECT_EQ(server_->command({"XLEN", "{a game}:frames"}), "1");
}

/// The log itself is as it was: nobody has to begin again.
TEST_F(log_written_step_by_step, makes_a_snapshot_again_whose_pieces_are_lost_at_last) {
    serve();
    begin_log(lease(), {.snapshot_every = 3});
    auto slow = follower();
    followed_game world;
    expect_to_follow(slow, world);
    for (int i = 0; i != 3; ++i) {
        push_frame();
        writer_->step();
    }
    writer_->step(); // the only piece
    const std::string key = keys_of_snapshots(3);
    ASSERT_NE(key, "");
    server_->command({"DEL", key});
    writer_->step(); // would be the end of it
    EXPECT_TRUE(writer_->end());
    EXPECT_EQ(step_to_snapshot(3), 0U);
    expect_to_follow(slow, world);
    EXPECT_EQ(world.snapshots(), 1U);
    EXPECT_EQ(world.deltas(), 3U);
}

/// It isn't tried all the time, nor does any delta wait for it.
TEST_F(log_written_step_by_step, goes_on_with_deltas_where_the_server_takes_no_snapshot) {
    serve();
    game_.grow(100'000);
    begin_log(lease(), {.snapshot_every = 1});
    server_->command({"CONFIG", "SET", "proto-max-bulk-len", "1048576"});
    unsigned errors = 0;
    for (int i = 0; i != 100; ++i) {
        push_frame();
        while (writer_->end()->frame != game_.frame()) {
            try {
                writer_->step();
            } catch (const redis_error&) {
                ++errors;
            }
        }
    }
    EXPECT_GT(errors, 0U);
    EXPECT_LT(errors, 50U);
    EXPECT_NE(writer_->problem(), "");
    EXPECT_EQ(server_->command({"XLEN", "{a game}:frames"}), "100");
    server_->command({"CONFIG", "SET", "proto-max-bulk-len", "536870912"});
    step_to_snapshot(1);
    EXPECT_EQ(writer_->problem(), "");
}

TEST_F(log_written_step_by_step, keeps_its_lease_while_it_has_nothing_to_do) {
    serve();
    begin_log(lease(3s));
    const auto next = writer_->step();
    EXPECT_LT(next, std::chrono::steady_clock::now() + 1500ms) << "long before the lease is over";
    server_->command({"PEXPIRE", "{a game}:lease", "1500"});
    std::this_thread::sleep_until(next);
    writer_->step();
    EXPECT_GT(std::stoi(server_->command({"PTTL", "{a game}:lease"})), 1500);
}

TEST_F(log_written_step_by_step, has_a_lease_again_that_has_ended_and_nobody_has_taken) {
    serve();
    begin_log(lease());
    server_->command({"DEL", "{a game}:lease"});
    push_frame();
    writer_->step();
    EXPECT_GT(std::stoi(server_->command({"PTTL", "{a game}:lease"})), 0);
}

TEST_F(log_written_step_by_step, gives_up_its_own_lease_only) {
    serve();
    const redis_lease first = lease();
    begin_log(first);
    server_->command({"DEL", "{a game}:lease"});
    auto standby = follower();
    followed_game world;
    expect_to_follow(standby, world);
    const redis_lease second = standby.try_take_over("the second", long_lease).value();
    const auto log = publisher(second);
    log->begin(0, game_.begin());
    publish(*log);
    EXPECT_EQ(message_of<lease_lost>([&] { writer_->release(); }),
              "the lease " + first.id + " is over; the one of now is " + second.id);
    EXPECT_TRUE(log->release(redis_patience));
    EXPECT_EQ(message_of<lease_lost>([&] { writer_->release(); }),
              "the lease " + first.id + " is over; nobody has one now");
}

TEST_F(log_written_step_by_step, gives_it_up_twice_where_the_answer_was_lost) {
    serve();
    const redis_lease first = lease();
    begin_log(first);
    writer_->release();
    writer_->release();
    push_frame();
    EXPECT_EQ(message_of<lease_lost>([&] { writer_->step(); }),
              "the lease " + first.id + " is over; nobody has one now");
}

} // namespace
} // namespace handlepool::test

// SPDX-License-Identifier: MIT

// A publisher between whom and the server commands come late, and answers are lost.

#include "redis_log_of_frames.hpp"
#include "relay.hpp"

#include <gtest/gtest.h>
#include <tests/support/message_of.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>

namespace handlepool::test {
namespace {

// What only one command has in it.
constexpr auto word_of_take = "HINCRBY";
constexpr auto word_of_append = "'history', ARGV[7], 'delta'";
constexpr auto word_of_store = "SETRANGE";
constexpr auto word_of_publish = "PERSIST";
constexpr auto word_of_release = "HDEL";

class redis_log_on_a_bad_network : public redis_log_of_frames {
protected:
    redis_log_on_a_bad_network() {
        serve();
        network_ = std::make_unique<relay>(server_->address().port);
    }
    std::unique_ptr<redis_publisher> begin_far(redis_publisher_options options = {}) {
        lease_ = lease();
        auto log = std::make_unique<redis_publisher>(network_->address(), "a game", lease_, options);
        log->begin(game_.frame(), begin_reference());
        return log;
    }
    /// Who comes now finds this snapshot, and all frames behind it.
    void expect_late_follower_to_begin_with(std::uint64_t frame) {
        auto late = follower();
        followed_game world;
        const auto first = late.next(redis_patience);
        ASSERT_TRUE(first) << late.problem();
        EXPECT_EQ(first->frame, frame);
        world.receive(*first);
        expect_to_follow(late, world);
        EXPECT_EQ(world.snapshots(), 1U);
    }

    redis_lease lease_;
    std::unique_ptr<relay> network_;
};

TEST_F(redis_log_on_a_bad_network, keeps_its_snapshot_when_an_older_one_is_published_late) {
    const auto log = begin_far({.snapshot_every = 5});
    publish(*log, 4);
    network_->keep(word_of_publish);
    publish(*log);
    network_->wait_until_done();
    wait_for_snapshot(5); // which was sent again
    publish(*log, 5);
    wait_for_snapshot(10);
    network_->let_go();
    publish(*log, 2);
    expect_late_follower_to_begin_with(10);
}

TEST_F(redis_log_on_a_bad_network, keeps_its_frames_when_its_begin_comes_late) {
    lease_ = lease();
    const redis_publisher_options options{.snapshot_every = 5};
    const auto log = std::make_unique<redis_publisher>(network_->address(), "a game", lease_, options);
    network_->keep(word_of_publish);
    log->begin(0, begin_reference());
    network_->wait_until_done();
    publish(*log, 5);
    wait_for_snapshot(5);
    network_->let_go();
    EXPECT_EQ(server_->command({"HGET", "{a game}:log", "frame"}), "5");
    publish(*log);
    expect_late_follower_to_begin_with(5);
}

TEST_F(redis_log_on_a_bad_network, keeps_its_snapshot_when_a_piece_comes_late) {
    const auto log = begin_far({.snapshot_every = 5});
    publish(*log, 4);
    network_->keep(word_of_store);
    publish(*log);
    network_->wait_until_done();
    wait_for_snapshot(5);
    network_->let_go();
    const std::string key = server_->command({"HGET", "{a game}:log", "snapshot"});
    EXPECT_EQ(server_->command({"TTL", key}), "-1"); // for ever
    expect_late_follower_to_begin_with(5);
}

TEST_F(redis_log_on_a_bad_network, has_each_frame_once_when_it_comes_late_or_the_answer_is_lost) {
    const auto log = begin_far();
    auto early = follower();
    followed_game world;
    publish(*log, 2);
    network_->keep(word_of_append);
    publish(*log);
    network_->wait_until_done();
    publish(*log);
    network_->let_go();
    publish(*log);
    network_->lose_answer_to(word_of_append);
    publish(*log);
    network_->wait_until_done();
    publish(*log);
    expect_to_follow(early, world);
    EXPECT_EQ(world.snapshots(), 1U);
    EXPECT_EQ(world.deltas(), 7U);
    EXPECT_EQ(server_->command({"XLEN", "{a game}:frames"}), "7");
}

TEST_F(redis_log_on_a_bad_network, has_each_snapshot_once_when_an_answer_is_lost) {
    const auto log = begin_far({.snapshot_every = 5});
    auto early = follower();
    followed_game world;
    publish(*log, 4);
    network_->lose_answer_to(word_of_store);
    publish(*log);
    network_->wait_until_done();
    wait_for_snapshot(5);
    publish(*log, 4);
    network_->lose_answer_to(word_of_publish);
    publish(*log);
    network_->wait_until_done();
    publish(*log, 2);
    EXPECT_EQ(server_->command({"XLEN", "{a game}:frames"}), "7"); // from 6 on
    expect_late_follower_to_begin_with(10);
    expect_to_follow(early, world);
}

TEST_F(redis_log_on_a_bad_network, is_given_up_when_the_answer_is_lost) {
    const auto log = begin_far();
    publish(*log, 2);
    network_->lose_answer_to(word_of_release);
    EXPECT_TRUE(log->release(redis_patience));
    EXPECT_EQ(message_of<lease_lost>([&] { append(*log); }), "the lease " + lease_.id + " was given up");
}

TEST_F(redis_log_on_a_bad_network, goes_to_nobody_for_a_while_when_the_answer_is_lost) {
    redis_follower log(network_->address(), "a game");
    network_->lose_answer_to(word_of_take);
    EXPECT_FALSE(log.try_take_over("the first", std::chrono::milliseconds(1)));
    EXPECT_EQ(log.problem(), "redis at 127.0.0.1:" + std::to_string(network_->address().port) +
                                 ": the server has closed the connection");
    std::optional<redis_lease> taken;
    while (!taken) {
        taken = log.try_take_over("the first", long_lease);
    }
    EXPECT_EQ(taken->token, 2U);
}

TEST_F(redis_log_on_a_bad_network, refuses_who_uses_a_lease_that_was_used) {
    auto log = begin_far();
    network_->lose_answer_to(word_of_append);
    publish(*log, 3);
    log.reset();
    const auto second = publisher(lease_);
    EXPECT_EQ(message_of<lease_lost>([&] { second->wait(0, redis_patience); }),
              "the lease " + lease_.id + " is over; the one of now is " + lease_.id +
                  " of a later connection");
    EXPECT_EQ(server_->command({"HGET", "{a game}:log", "frame"}), "3");
}

} // namespace
} // namespace handlepool::test

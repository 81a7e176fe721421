// SPDX-License-Identifier: MIT

// Who takes a log over from which followers could not go on: because the server has lost a part of it, or
// because its own world consists of something else.

#include "redis_log_of_frames.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

using namespace std::chrono_literals;

class log_taken_over : public redis_log_of_frames {
protected:
    /// The log of a game that has played so many frames, and who has followed it up to there.
    void found(std::uint64_t frames) {
        serve();
        log_ = begin({.snapshot_every = 100});
        publish(*log_, frames);
        standby_.emplace(follower());
        expect_to_follow(*standby_, world_);
    }
    redis_lease take() {
        EXPECT_TRUE(log_->release(redis_patience));
        return standby_->try_take_over("the next", long_lease).value();
    }
    void go_on(const redis_lease& lease) {
        log_ = publisher(lease, {.snapshot_every = 100});
        log_->begin(game_.frame(), game_.begin());
        if (!lease.snapshot_frame) {
            wait_for_snapshot(game_.frame());
        }
        publish(*log_, 2);
    }
    /// A follower that comes now gets one snapshot, and the deltas since.
    void expect_to_be_followed(std::uint64_t deltas) {
        auto late = follower();
        followed_game world;
        expect_to_follow(late, world);
        EXPECT_EQ(world.snapshots(), 1U);
        EXPECT_EQ(world.deltas(), deltas);
    }

    void expect_another_snapshot_and_to_be_followed() {
        const redis_lease lease = take();
        EXPECT_EQ(lease.snapshot_frame, std::nullopt);
        go_on(lease);
        expect_to_be_followed(2);
    }

    std::unique_ptr<redis_publisher> log_;
    std::optional<redis_follower> standby_;
    followed_game world_;
};

TEST_F(log_taken_over, counts_on_its_snapshot) {
    found(5);
    EXPECT_EQ(take().snapshot_frame, 0U);
}

TEST_F(log_taken_over, gets_another_snapshot_where_the_stream_is_lost) {
    found(5);
    server_->command({"DEL", "{a game}:frames"});
    expect_another_snapshot_and_to_be_followed();
}

TEST_F(log_taken_over, gets_another_snapshot_where_the_stream_was_trimmed) {
    found(10);
    server_->command({"XTRIM", "{a game}:frames", "MAXLEN", "3"});
    expect_another_snapshot_and_to_be_followed();
}

TEST_F(log_taken_over, gets_another_snapshot_where_its_own_is_damaged) {
    found(5);
    server_->command({"SET", server_->command({"HGET", "{a game}:log", "snapshot"}), "short"});
    expect_another_snapshot_and_to_be_followed();
}

TEST_F(log_taken_over, counts_on_a_later_snapshot_as_long_as_the_entry_of_its_frame_is_there) {
    serve();
    log_ = begin({.snapshot_every = 5});
    publish(*log_, 5);
    wait_for_snapshot(5);
    publish(*log_, 2);
    standby_.emplace(follower());
    expect_to_follow(*standby_, world_);
    EXPECT_EQ(take().snapshot_frame, 5U);
    server_->command({"DEL", "{a game}:lease"});
    expect_to_follow(*standby_, world_);
    server_->command({"XDEL", "{a game}:frames", "5-0"});
    EXPECT_EQ(standby_->try_take_over("another", long_lease).value().snapshot_frame, std::nullopt);
}

TEST_F(log_taken_over, needs_no_entry_where_it_ends_at_its_snapshot) {
    found(0);
    EXPECT_EQ(take().snapshot_frame, 0U);
}

TEST_F(log_taken_over, that_an_older_version_has_written_gets_another_snapshot) {
    found(5);
    server_->command({"HDEL", "{a game}:log", "snapshot_layout"});
    EXPECT_EQ(take().snapshot_frame, std::nullopt);
}

/// Until it is made, deltas and snapshot are of two worlds: nobody could begin with them.
TEST_F(log_taken_over, gets_another_snapshot_of_a_world_that_consists_of_something_else) {
    found(5);
    const redis_lease lease = take();
    EXPECT_EQ(lease.snapshot_frame, 0U);
    log_ = publisher(lease, {.snapshot_every = 100});
    std::uint32_t rockets = 3; // which the next program has beside
    snapshot all;
    std::vector<std::byte> bytes;
    all.add("rockets", rockets);
    all.save(bytes);
    log_->begin(5, bytes);
    wait_for_snapshot(5);
    const auto message = follower().next(redis_patience);
    ASSERT_TRUE(message);
    EXPECT_EQ(message->bytes, bytes);
}

/// Somebody has to mend it; until then, nobody is kept busy by it.
TEST_F(log_taken_over, says_so_where_there_is_no_way_on) {
    found(5);
    server_->command({"XDEL", "{a game}:frames", "1-0"});
    auto late = follower();
    const auto message = late.next(redis_patience);
    ASSERT_TRUE(message);
    EXPECT_TRUE(message->is_snapshot);
    for (int i = 0; i != 3; ++i) {
        EXPECT_FALSE(late.next(1ms));
        EXPECT_EQ(late.problem(), "the log a game: the deltas behind the snapshot of frame 0 are not there");
        EXPECT_FALSE(late.try_take_over("the late one", long_lease));
    }
    late.rejoin(); // who asks for it gets it
    EXPECT_TRUE(late.next(redis_patience).value().is_snapshot);
    EXPECT_FALSE(late.next(1ms));
    server_->command({"DEL", "{a game}:lease"});
    const redis_lease lease = standby_->try_take_over("the next", long_lease).value();
    go_on(lease); // with a snapshot of frame 5
    followed_game world;
    expect_to_follow(late, world);
    EXPECT_EQ(world.snapshots(), 1U);
    EXPECT_EQ(world.deltas(), 2U);
}

/// As where Redis has lost the last frame, and another one has taken its place.
TEST_F(log_taken_over, is_not_by_who_has_another_frame_of_the_same_number) {
    found(3);
    server_->command({"XDEL", "{a game}:frames", "3-0"});
    server_->command({"HSET", "{a game}:log", "history", "0123456789abcdef"});
    server_->command({"DEL", "{a game}:lease"});
    EXPECT_FALSE(standby_->try_take_over("the next", long_lease));
    EXPECT_TRUE(standby_->next(redis_patience).value().is_snapshot);
}

TEST_F(log_taken_over, counts_connections_from_1_again) {
    found(1);
    for (int i = 0; i != 3; ++i) {
        server_->command({"CLIENT", "KILL", "TYPE", "normal"});
        publish(*log_);
    }
    expect_to_follow(*standby_, world_);
    go_on(take());
    expect_to_be_followed(6);
}

} // namespace
} // namespace handlepool::test

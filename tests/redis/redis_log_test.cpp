// SPDX-License-Identifier: MIT

// A log of frames in a server of Redis: publishers, followers, and who takes over.

#include "redis_log_of_frames.hpp"

#include <handlepool/snapshots/frame_gap.hpp>
#include <handlepool/snapshots/replica.hpp>

#include <gtest/gtest.h>
#include <tests/support/message_of.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

using namespace std::chrono_literals;

TEST_F(redis_log_of_frames, has_nothing_before_it_is_begun_and_goes_to_the_first) {
    serve();
    auto log = follower();
    EXPECT_FALSE(log.next(1ms));
    EXPECT_EQ(log.problem(), "");
    EXPECT_EQ(log.frame(), std::nullopt);
    const auto lease = log.try_take_over("the first", long_lease);
    ASSERT_TRUE(lease);
    EXPECT_EQ(lease->token, 1U);
    EXPECT_EQ(lease->time_to_live, long_lease);
    EXPECT_EQ(lease->frame, std::nullopt);
    EXPECT_FALSE(log.try_take_over("the second", long_lease));
    EXPECT_EQ(log.problem(), "");
    EXPECT_EQ(server_->command({"HGET", "{a game}:log", "holder"}), "the first");
    EXPECT_EQ(server_->command({"GET", "{a game}:lease"}), lease->id);
}

TEST_F(redis_log_of_frames, is_followed_from_the_begin_and_from_later) {
    serve();
    const auto log = begin({.snapshot_every = 5});
    auto early = follower();
    followed_game early_world;
    expect_to_follow(early, early_world);
    for (int i = 0; i != 23; ++i) {
        publish(*log);
        EXPECT_EQ(log->frame(), game_.frame());
        expect_to_follow(early, early_world);
    }
    EXPECT_EQ(early_world.snapshots(), 1U);
    EXPECT_EQ(early_world.deltas(), 23U);
    wait_for_snapshot(20);
    auto late = follower();
    followed_game late_world;
    expect_to_follow(late, late_world);
    EXPECT_EQ(late_world.snapshots(), 1U);
    EXPECT_EQ(late_world.deltas(), 3U);
    EXPECT_EQ(log->problem(), "");
}

TEST_F(redis_log_of_frames, keeps_the_deltas_since_the_snapshot_before_the_last) {
    serve();
    const auto log = begin({.snapshot_every = 5});
    auto slow = follower();
    followed_game world;
    expect_to_follow(slow, world);
    publish(*log, 3);
    expect_to_follow(slow, world); // 3
    publish(*log, 2);
    wait_for_snapshot(5);
    publish(*log, 5);
    wait_for_snapshot(10);
    EXPECT_EQ(server_->command({"XLEN", "{a game}:frames"}), "5"); // 6 to 10
    expect_to_follow(slow, world);
    EXPECT_EQ(world.snapshots(), 2U); // 4 is gone
    publish(*log, 2);
    expect_to_follow(slow, world);
    EXPECT_EQ(world.snapshots(), 2U);
    EXPECT_EQ(world.deltas(), 5U);
    auto keys = server_->command({"KEYS", "{a game}:snapshot:*"});
    EXPECT_EQ(std::count(keys.begin(), keys.end(), '\n'), 2) << keys; // two of them for a minute yet
}

/// However soon one server follows another.
TEST_F(redis_log_of_frames, has_as_many_deltas_when_servers_take_it_over) {
    serve();
    auto log = begin({.snapshot_every = 10});
    auto slow = follower();
    followed_game seen;
    expect_to_follow(slow, seen);
    const auto take_over = [&](redis_follower& standby, followed_game& world) {
        expect_to_follow(standby, world);
        EXPECT_TRUE(log->release(redis_patience));
        const redis_lease taken = standby.try_take_over("the next", long_lease).value();
        log = publisher(taken, {.snapshot_every = 10});
        log->begin(game_.frame(), game_.begin());
        return taken.snapshot_frame;
    };
    for (int i = 0; i != 4; ++i) {
        publish(*log);
        auto standby = follower();
        followed_game world;
        EXPECT_EQ(take_over(standby, world), 0U);
    }
    publish(*log, 5);
    EXPECT_EQ(server_->command({"HGET", "{a game}:log", "snapshot_frame"}), "0");
    expect_to_follow(slow, seen); // 9
    EXPECT_EQ(seen.snapshots(), 1U);
    EXPECT_EQ(seen.deltas(), 9U);
    publish(*log);
    wait_for_snapshot(10); // of the log, not of this server
    // One that the server has lost is made again.
    server_->command({"DEL", server_->command({"HGET", "{a game}:log", "snapshot"})});
    publish(*log);
    EXPECT_EQ(take_over(slow, seen), std::nullopt);
    wait_for_snapshot(11);
}

TEST_F(redis_log_of_frames, is_taken_over_where_it_ends_by_who_has_read_all_of_it) {
    serve();
    auto first = begin();
    publish(*first, 4);
    auto standby = follower();
    followed_game world;
    expect_to_follow(standby, world);
    EXPECT_FALSE(standby.try_take_over("the second", long_lease)); // which the first one has
    publish(*first);
    first.reset();
    server_->command({"DEL", "{a game}:lease"}); // as if its time were over
    EXPECT_FALSE(standby.try_take_over("the second", long_lease));
    expect_to_follow(standby, world);
    const auto second = standby.try_take_over("the second", long_lease);
    ASSERT_TRUE(second);
    EXPECT_EQ(second->token, 2U);
    EXPECT_EQ(second->frame, 5U);
    EXPECT_EQ(standby.frame(), std::nullopt); // it is no follower any more
    auto onlooker = follower();
    followed_game seen;
    expect_to_follow(onlooker, seen);

    const auto log = publisher(*second);
    EXPECT_EQ(message_of<std::invalid_argument>([&] { log->begin(4, game_.begin()); }),
              "the log ends at frame 5, and can't go on from frame 4");
    log->begin(5, game_.begin());
    publish(*log, 3);
    expect_to_follow(onlooker, seen);
    EXPECT_EQ(seen.snapshots(), 1U);
    EXPECT_EQ(seen.deltas(), 8U);
    expect_to_follow(standby, world); // and could be one again
    EXPECT_EQ(world.snapshots(), 2U);
}

TEST_F(redis_log_of_frames, refuses_who_has_lost_the_lease) {
    serve();
    const redis_lease old = lease(1ms);
    const auto log = publisher(old);
    log->begin(0, begin_reference());
    publish(*log);
    // Another one takes it as soon as it has ended for once.
    auto other = follower();
    followed_game world;
    std::optional<redis_lease> taken;
    while (!taken) {
        expect_to_follow(other, world);
        taken = other.try_take_over("another", long_lease);
    }
    EXPECT_EQ(taken->token, 2U);
    const std::string lost = "the lease " + old.id + " is over; the one of now is " + taken->id;
    EXPECT_EQ(message_of<lease_lost>([&] { log->wait(2, redis_patience); }), lost);
    EXPECT_EQ(message_of<lease_lost>([&] { append(*log); }), lost);
    EXPECT_EQ(message_of<lease_lost>([&] { log->release(1s); }), lost);
    EXPECT_TRUE(log->wait(1, 1ms)); // that was published
    EXPECT_EQ(log->frame(), 1U);
    EXPECT_EQ(server_->command({"HGET", "{a game}:log", "frame"}), "1");
    EXPECT_EQ(server_->command({"XLEN", "{a game}:frames"}), "1");
}

TEST_F(redis_log_of_frames, is_handed_over_at_once) {
    serve();
    const redis_lease first = lease();
    auto log = publisher(first);
    log->begin(0, begin_reference());
    append(*log, 20);
    EXPECT_TRUE(log->release(redis_patience));
    EXPECT_EQ(log->frame(), 20U); // all that was appended
    EXPECT_EQ(message_of<lease_lost>([&] { append(*log); }), "the lease " + first.id + " was given up");
    EXPECT_EQ(server_->command({"EXISTS", "{a game}:lease"}), "0");
    EXPECT_EQ(server_->command({"HEXISTS", "{a game}:log", "lease"}),
              "0"); // it does not go on with it either
    game_.begin();
    auto standby = follower();
    followed_game world;
    while (standby.frame() != 20U) {
        world.receive(standby.next(redis_patience).value());
    }
    const auto second = standby.try_take_over("the second", long_lease);
    ASSERT_TRUE(second);
    EXPECT_EQ(second->token, 2U);
}

TEST_F(redis_log_of_frames, goes_on_when_the_server_was_killed_and_has_lost_nothing) {
    serve({"--appendonly", "yes", "--appendfsync", "always"});
    const auto log = begin();
    auto early = follower();
    followed_game world;
    publish(*log, 3);
    expect_to_follow(early, world);
    server_->kill();
    EXPECT_FALSE(early.next(1ms));
    EXPECT_EQ(early.problem(), "redis at 127.0.0.1:" + std::to_string(server_->address().port) +
                                   ": the server has closed the connection");
    EXPECT_FALSE(early.next(1ms));
    EXPECT_EQ(early.problem(),
              "redis at 127.0.0.1:" + std::to_string(server_->address().port) + ": Connection refused");
    append(*log, 5);
    EXPECT_FALSE(log->wait(game_.frame(), 1ms));
    server_->start();
    ASSERT_TRUE(log->wait(game_.frame(), redis_patience));
    EXPECT_EQ(log->problem(), "");
    expect_to_follow(early, world);
    EXPECT_EQ(world.snapshots(), 1U);
    EXPECT_EQ(world.deltas(), 8U);
}

TEST_F(redis_log_of_frames, is_lost_when_the_server_has_forgotten_it) {
    serve();
    const redis_lease first = lease();
    const auto log = publisher(first);
    log->begin(0, begin_reference());
    auto early = follower();
    followed_game world;
    publish(*log, 3);
    expect_to_follow(early, world);
    server_->kill();
    server_->start();
    // Nobody has the lease now, and any process may begin an empty log: this one can, too.
    EXPECT_EQ(message_of<lease_lost>([&] {
                  append(*log);
                  log->wait(game_.frame(), redis_patience);
              }),
              "the lease " + first.id + " is over; nobody has one now");
}

TEST_F(redis_log_of_frames, begins_again_where_frames_were_forgotten) {
    serve();
    const auto log = begin();
    auto early = follower();
    followed_game world;
    publish(*log, 3);
    expect_to_follow(early, world);
    // As if the server had lost the last frame, but not the lease.
    server_->command({"HSET", "{a game}:log", "frame", "2", "history", "0123456789abcdef"});
    publish(*log, 3);
    expect_to_follow(early, world);
    EXPECT_EQ(world.snapshots(), 2U);
    publish(*log, 3);
    expect_to_follow(early, world);
    EXPECT_EQ(world.snapshots(), 2U);
}

TEST_F(redis_log_of_frames, is_left_by_who_is_ahead_of_it) {
    serve();
    const auto log = begin();
    publish(*log, 3);
    auto ahead = follower();
    followed_game world;
    expect_to_follow(ahead, world);
    EXPECT_FALSE(ahead.next(1ms));
    // As if the server had lost the last frame.
    server_->command({"HSET", "{a game}:log", "frame", "2", "history", "0123456789abcdef"});
    server_->command({"XDEL", "{a game}:frames", "3-0"});
    const auto message = ahead.next(1ms);
    ASSERT_TRUE(message) << ahead.problem();
    EXPECT_TRUE(message->is_snapshot);
    EXPECT_EQ(ahead.frame(), 0U);
}

TEST_F(redis_log_of_frames, has_no_snapshot_of_a_frame_that_was_forgotten) {
    serve();
    auto first = begin();
    publish(*first, 3);
    auto standby = follower();
    followed_game world;
    expect_to_follow(standby, world);
    first.reset();
    server_->command({"DEL", "{a game}:lease"});
    const auto lease = standby.try_take_over("the second", long_lease).value();
    server_->command({"HSET", "{a game}:log", "frame", "2", "history", "0123456789abcdef"});
    const auto second = publisher(lease, {.snapshot_every = 3});
    second->begin(3, begin_reference()); // and has a snapshot to make, and nothing to append
    wait_for_snapshot(3);
    EXPECT_EQ(server_->command({"HGET", "{a game}:log", "frame"}), "3");
    auto late = follower();
    followed_game late_world;
    expect_to_follow(late, late_world);
    EXPECT_FALSE(late.next(1ms));
    EXPECT_EQ(late.frame(), 3U);
    publish(*second);
    expect_to_follow(late, late_world);
    EXPECT_EQ(late_world.snapshots(), 1U);
}

TEST_F(redis_log_of_frames, is_looked_at_again_while_there_is_time) {
    serve({"--appendonly", "yes", "--appendfsync", "always"});
    const auto log = begin();
    publish(*log);
    server_->command({"HSET", "{a game}:log", "snapshot", "{a game}:gone"});
    auto late = follower();
    EXPECT_FALSE(late.next(1ms));
    EXPECT_EQ(late.problem(), "the log a game: the snapshot of frame 0 is not there");
    EXPECT_FALSE(late.try_take_over("the second", long_lease));
    EXPECT_EQ(late.problem(), "");
    server_->kill();
    std::thread starter([this] {
        server_->start();
        const std::string key = server_->command({"KEYS", "{a game}:snapshot:*"});
        server_->command({"HSET", "{a game}:log", "snapshot", key});
    });
    followed_game world;
    const auto message = late.next(redis_patience); // of which the server is away for some
    starter.join();
    ASSERT_TRUE(message) << late.problem();
    EXPECT_EQ(late.problem(), "");
    world.receive(*message);
    expect_to_follow(late, world);
}

TEST_F(redis_log_of_frames, waits_for_any_time) {
    serve();
    const auto log = begin();
    publish(*log);
    auto early = follower();
    followed_game world;
    expect_to_follow(early, world);
    constexpr auto always = std::chrono::milliseconds::max();
    constexpr auto never = std::chrono::milliseconds::min();
    EXPECT_FALSE(early.next(never));
    EXPECT_EQ(early.problem(), "");
    EXPECT_FALSE(log->wait(2, never));
    server_->pause();
    std::thread sender([&] {
        append(*log);
        server_->go_on();
    });
    const auto message = early.next(always);
    sender.join();
    ASSERT_TRUE(message);
    EXPECT_EQ(message->frame, 2U);
    server_->pause();
    append(*log);
    std::thread waker([this] { server_->go_on(); });
    EXPECT_TRUE(log->wait(3, always));
    waker.join();
    EXPECT_TRUE(log->release(always));
}

TEST_F(redis_log_of_frames, publishes_frames_while_the_server_takes_no_snapshot) {
    serve();
    game_.grow(100'000);
    const auto log = begin({.snapshot_every = 1});
    ASSERT_TRUE(log->wait(0, redis_patience));
    server_->command({"CONFIG", "SET", "proto-max-bulk-len", "1048576"}); // a value has no more bytes
    publish(*log);
    const auto late_problem = std::chrono::steady_clock::now() + redis_patience;
    while (log->problem().empty()) {
        ASSERT_LT(std::chrono::steady_clock::now(), late_problem);
        std::this_thread::sleep_for(1ms);
    }
    publish(*log);
    server_->command({"CONFIG", "SET", "proto-max-bulk-len", "536870912"});
    wait_for_snapshot(2);
    auto late = follower();
    followed_game world;
    expect_to_follow(late, world);
    EXPECT_EQ(world.deltas(), 0U);
}

TEST_F(redis_log_of_frames, gets_a_snapshot_however_much_is_forgotten_meanwhile) {
    serve();
    game_.grow(100'000); // several pieces
    const auto log = begin({.most_waiting_bytes = 1});
    const auto late = std::chrono::steady_clock::now() + redis_patience;
    while (server_->command({"HEXISTS", "{a game}:log", "snapshot"}) == "0") {
        ASSERT_LT(std::chrono::steady_clock::now(), late);
        append(*log);
    }
    ASSERT_TRUE(log->wait(game_.frame(), redis_patience));
    auto source = follower();
    followed_game world;
    expect_to_follow(source, world);
}

/// The snapshot that was on its way then is late, and no end of the log.
TEST_F(redis_log_of_frames, goes_on_when_frames_were_forgotten_during_the_first_snapshot) {
    serve();
    game_.grow(100'000);
    const auto log = begin({.most_waiting_bytes = 1});
    append(*log, 50); // while its pieces are sent
    ASSERT_TRUE(log->wait(game_.frame(), redis_patience)) << log->problem();
    publish(*log, 3);
    auto source = follower();
    followed_game world;
    expect_to_follow(source, world);
    publish(*log);
    expect_to_follow(source, world);
}

TEST_F(redis_log_of_frames, sends_a_snapshot_when_too_much_waits) {
    serve();
    const auto log = begin({.most_waiting_bytes = 2'000});
    auto early = follower();
    followed_game world;
    publish(*log, 3);
    expect_to_follow(early, world);
    server_->pause();
    append(*log, 100); // of more than 100 bytes each
    server_->go_on();
    ASSERT_TRUE(log->wait(game_.frame(), redis_patience));
    expect_to_follow(early, world);
    EXPECT_EQ(world.snapshots(), 2U);
    EXPECT_LT(world.deltas(), 60U);
    publish(*log, 3);
    expect_to_follow(early, world);
    EXPECT_EQ(world.snapshots(), 2U);
}

TEST_F(redis_log_of_frames, sends_a_snapshot_when_too_much_waits_behind_a_delta_that_was_not_taken) {
    serve({"--appendonly", "yes", "--appendfsync", "always"});
    const auto log = begin({.most_waiting_bytes = 2'000});
    publish(*log, 3);
    server_->kill();
    append(*log);
    while (log->problem().empty()) {
        std::this_thread::sleep_for(1ms);
    }
    append(*log, 100);
    server_->start();
    ASSERT_TRUE(log->wait(game_.frame(), redis_patience));
    auto late = follower();
    followed_game world;
    expect_to_follow(late, world);
    EXPECT_EQ(world.snapshots(), 1U);
}

TEST_F(redis_log_of_frames, sends_large_snapshots_between_deltas) {
    serve();
    game_.grow(100'000); // several pieces
    const auto log = begin({.snapshot_every = 1});
    auto early = follower();
    followed_game world;
    for (int i = 0; i != 5; ++i) {
        append(*log);
        expect_to_follow(early, world);
    }
    EXPECT_EQ(world.snapshots(), 1U);
    followed_game late_world;
    auto late = follower();
    expect_to_follow(late, late_world);
    EXPECT_EQ(late_world.snapshots(), 1U);
}

TEST_F(redis_log_of_frames, has_limits_for_what_followers_take) {
    serve();
    game_.grow(1'000);
    const auto log = begin();
    publish(*log, 2);
    const std::string snapshot_bytes = server_->command({"HGET", "{a game}:log", "snapshot_bytes"});
    auto small = follower({.most_snapshot_bytes = 10'000});
    EXPECT_FALSE(small.next(1ms));
    EXPECT_EQ(small.problem(),
              "the log a game: the snapshot of frame 0 has " + snapshot_bytes + " bytes; 10000 are allowed");
    EXPECT_EQ(small.frame(), std::nullopt);
    auto unlimited = follower({.most_snapshot_bytes = std::numeric_limits<std::size_t>::max(),
                               .most_delta_bytes = std::numeric_limits<std::size_t>::max()});
    followed_game world;
    expect_to_follow(unlimited, world);
    auto narrow = follower({.most_delta_bytes = 1'000});
    ASSERT_TRUE(narrow.next(redis_patience)); // the snapshot
    game_.grow(10'000);
    publish(*log);
    ASSERT_TRUE(narrow.next(redis_patience)); // 1
    ASSERT_TRUE(narrow.next(redis_patience)); // 2
    EXPECT_FALSE(narrow.next(1ms));
    EXPECT_EQ(narrow.problem(), "redis at 127.0.0.1:" + std::to_string(server_->address().port) +
                                    ": an answer of more than 1000 bytes");
    EXPECT_EQ(narrow.frame(), 2U);
    expect_to_follow(unlimited, world);
    EXPECT_EQ(world.snapshots(), 1U);
}

TEST_F(redis_log_of_frames, is_received_by_a_replica_that_asks_for_a_snapshot_when_it_refuses) {
    serve();
    const auto log = begin();
    publish(*log, 2);
    std::uint64_t frame = 0;
    replica world;
    world.add("frame", frame);
    auto source = follower();
    EXPECT_TRUE(source.follow(world, redis_patience));
    EXPECT_EQ(frame, 0U);
    EXPECT_TRUE(source.follow(world, redis_patience));
    EXPECT_EQ(frame, 1U);
    // Somebody else has given it a delta.
    followed_game other;
    auto second = follower();
    expect_to_follow(second, other);
    std::vector<std::byte> delta = game_.next();
    reference_.receive({.frame = 3, .bytes = delta});
    log->append(delta);
    ASSERT_TRUE(log->wait(3, redis_patience));
    EXPECT_TRUE(source.follow(world, redis_patience));
    world.apply(delta);
    EXPECT_EQ(frame, 3U);
    const auto before = std::chrono::steady_clock::now();
    EXPECT_FALSE(source.follow(world, redis_patience));
    EXPECT_GE(std::chrono::steady_clock::now() - before, 100ms) << "who tries again at once has time";
    EXPECT_EQ(source.problem(), "delta 'the log a game' leads from frame 2 to frame 3; one from "
                                "frame 3 is expected");
    EXPECT_TRUE(source.follow(world, redis_patience));
    EXPECT_EQ(frame, 0U);
    for (std::uint64_t i = 1; i <= 3; ++i) {
        EXPECT_TRUE(source.follow(world, redis_patience));
        EXPECT_EQ(frame, i);
    }
    // A snapshot that it can't load is an error of the program.
    std::uint64_t missing = 0;
    replica without;
    without.add("nothing", missing);
    auto third = follower();
    EXPECT_EQ(message_of<invalid_snapshot>([&] { third.follow(without, redis_patience); }),
              "snapshot 'the log a game': there is no block 'nothing'");
    EXPECT_EQ(third.frame(), std::nullopt);
}

TEST_F(redis_log_of_frames, is_reached_by_a_path_and_with_a_password) {
    serve({"--requirepass", "open sesame"});
    redis_address address = server_->address();
    redis_follower stranger(address, "a game");
    EXPECT_FALSE(stranger.next(1ms));
    EXPECT_EQ(stranger.problem(),
              "redis at 127.0.0.1:" + std::to_string(address.port) + ": NOAUTH Authentication required.");
    address.password = "open sesame";
    redis_follower known(address, "a game");
    EXPECT_FALSE(known.next(1ms));
    EXPECT_EQ(known.problem(), "");
    redis_address path{.path = server_->socket(), .user = "default", .password = "open sesame"};
    redis_follower beside(path, "a game");
    EXPECT_TRUE(beside.try_take_over("the first", long_lease)) << beside.problem();
    path.password = "open, sesame";
    redis_follower wrong(path, "a game");
    EXPECT_FALSE(wrong.next(1ms));
    EXPECT_EQ(wrong.problem(),
              "redis at " + path.path + ": WRONGPASS invalid username-password pair or user is disabled.");
}

TEST_F(redis_log_of_frames, refuses_what_can_not_be) {
    serve();
    const std::string name_problem = "; it may have no braces, and not be empty";
    EXPECT_EQ(message_of<std::invalid_argument>([&] { redis_follower(server_->address(), ""); }),
              "the name of a log is ''" + name_problem);
    EXPECT_EQ(message_of<std::invalid_argument>([&] { redis_follower(server_->address(), "a}b"); }),
              "the name of a log is 'a}b'" + name_problem);
    EXPECT_EQ(
        message_of<std::invalid_argument>([&] { redis_follower(server_->address(), std::string(256, 'a')); }),
        "the name of a log has 256 bytes; 1 to 255 are allowed");
    redis_follower longest(server_->address(), std::string(255, 'a'));
    EXPECT_TRUE(longest.try_take_over("x", long_lease)) << longest.problem();
    auto log = follower();
    EXPECT_EQ(message_of<std::invalid_argument>([&] { log.try_take_over("x", 0ms); }),
              "a lease of 0 milliseconds; 1 to 86400000 are allowed");
    EXPECT_EQ(message_of<std::invalid_argument>([&] { log.try_take_over("x", 24h + 1ms); }),
              "a lease of 86400001 milliseconds; 1 to 86400000 are allowed");
    for (const auto time : {-1ms, 0ms, 86'400'001ms}) {
        redis_address address = server_->address();
        address.timeout = time;
        EXPECT_EQ(message_of<std::invalid_argument>([&] { redis_follower(address, "a game"); }),
                  "the time of an address is " + std::to_string(time.count()) +
                      " milliseconds; 1 to 86400000 are allowed");
    }
    EXPECT_EQ(message_of<std::invalid_argument>([&] { publisher({}); }),
              "a lease that redis_follower::try_take_over() did not give");
    EXPECT_EQ(message_of<std::invalid_argument>([&] { publisher({.time_to_live = 24h + 1ms}); }),
              "a lease that redis_follower::try_take_over() did not give");
    const redis_lease first = lease();
    EXPECT_EQ(message_of<std::invalid_argument>([&] { publisher(first, {.snapshot_every = 0}); }),
              "a snapshot after every 0 frames; at least 1 is allowed");
    const auto writer = publisher(first);
    EXPECT_EQ(message_of<std::logic_error>([&] { writer->append({}); }),
              "redis_publisher::begin() was not called");
    EXPECT_EQ(message_of<invalid_snapshot>([&] { writer->begin(0, {}); }),
              "snapshot 'in memory', byte 0: this is no snapshot; \"hp world\" is expected");
    const auto snapshot = begin_reference();
    writer->begin(0, snapshot);
    EXPECT_EQ(message_of<std::logic_error>([&] { writer->begin(0, snapshot); }),
              "redis_publisher::begin() is called once");
    EXPECT_EQ(message_of<invalid_snapshot>([&] { writer->append(snapshot); }),
              "delta 'in memory': this is no delta; a block 'frames' is expected");
    const auto first_delta = game_.next();
    const auto second_delta = game_.next();
    EXPECT_EQ(message_of<frame_gap>([&] { writer->append(second_delta); }),
              "the delta leads from frame 1 to frame 2; one from frame 0 is expected");
    writer->append(first_delta);
    writer->append(second_delta);
    EXPECT_TRUE(writer->wait(2, redis_patience));
    EXPECT_FALSE(writer->wait(3, 1ms));
}

TEST_F(redis_log_of_frames, publishes_no_delta_that_contradicts_the_snapshot) {
    serve();
    const auto writer = publisher(lease());
    std::uint64_t frame = 0;
    snapshot other;
    other.add("frame", frame);
    std::vector<std::byte> bytes;
    other.save(bytes);
    game_.begin();
    writer->begin(0, bytes); // without ships
    writer->append(game_.next());
    const std::string problem = message_of<invalid_snapshot>([&] { writer->wait(1, redis_patience); });
    EXPECT_EQ(problem.substr(problem.find("block")), "block 'ships': the snapshot has nothing of this name");
    EXPECT_EQ(message_of<invalid_snapshot>([&] { writer->append(game_.next()); }), problem);
    EXPECT_EQ(server_->command({"XLEN", "{a game}:frames"}), "0");
}

} // namespace
} // namespace handlepool::test

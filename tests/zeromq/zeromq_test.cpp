// SPDX-License-Identifier: MIT

// Worlds that follow another one by ZeroMQ: from the begin, late, after a loss, and after an end of the
// publisher.

#include <handlepool/detail/followers/frame_position.hpp>

#include <gtest/gtest.h>
#include <src/zeromq/zeromq_message.hpp>
#include <tests/support/message_of.hpp>
#include <tests/support/scratch_directory.hpp>
#include <tests/zeromq/followed_world.hpp>
#include <tests/zeromq/raw_zeromq.hpp>
#include <zmq.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

using namespace std::chrono_literals;

TEST(zeromq, each_frame_is_followed) {
    origin_world origin({.first_frame = 7});
    zeromq_publisher publisher(free_endpoints());
    publisher.begin(7, origin.begin());
    following_world world(publisher.endpoints());
    world.follow(origin);
    EXPECT_EQ(world.follower().frame(), 7u);
    for (int i = 0; i != 100; ++i) {
        publisher.append(origin.play());
        ASSERT_NO_FATAL_FAILURE(world.follow(origin));
        EXPECT_EQ(world.follower().problem(), "");
    }
    EXPECT_EQ(publisher.frame(), 107u);
    EXPECT_EQ(world.follower().frame(), 107u);
    EXPECT_FALSE(world.follower().follow(world.replica(), 0ms));
    EXPECT_EQ(world.follower().malformed_messages(), 0u);
    EXPECT_EQ(publisher.malformed_messages(), 0u);
}

TEST(zeromq, whoever_comes_late_gets_a_snapshot_and_what_follows) {
    origin_world origin({});
    zeromq_publisher publisher(free_endpoints(), {.heartbeat = 1h}); // which nobody waits for
    publisher.begin(0, origin.begin());
    following_replay early(publisher.endpoints());
    for (int i = 0; i != 50; ++i) {
        publisher.append(origin.play());
    }
    early.follow(origin); // so all are published
    zeromq_follower late(publisher.endpoints());
    const auto first = late.next(long_enough);
    ASSERT_TRUE(first.has_value()) << late.problem();
    EXPECT_TRUE(first->is_snapshot);
    EXPECT_EQ(first->frame, 50u);

    following_replay later(publisher.endpoints());
    later.follow(origin);
    publisher.append(origin.play());
    later.follow(origin);
    early.follow(origin);
    EXPECT_EQ(later.snapshots(), 1);
    EXPECT_EQ(early.snapshots(), 1);
    const auto second = late.next(long_enough);
    ASSERT_TRUE(second.has_value()) << late.problem();
    EXPECT_FALSE(second->is_snapshot);
    EXPECT_EQ(second->frame, 51u);
}

TEST(zeromq, a_follower_may_be_there_before_its_publisher) {
    origin_world origin({.first_frame = 3});
    std::optional<zeromq_publisher> publisher(free_endpoints());
    const zeromq_endpoints endpoints = publisher->endpoints();
    publisher.reset();
    following_world world(endpoints, {.patience = long_enough});
    EXPECT_FALSE(world.follower().follow(world.replica(), 0ms));
    EXPECT_EQ(world.follower().problem(), "nothing was heard of " + endpoints.deltas + " yet");
    EXPECT_EQ(world.follower().frame(), std::nullopt);
    zeromq_follower impatient(endpoints, {.patience = 20ms});
    EXPECT_FALSE(impatient.next(30ms).has_value());
    EXPECT_EQ(impatient.problem(),
              "nothing was heard of " + endpoints.deltas + " for 20 ms; a delta may have 67108864 bytes");

    publisher.emplace(endpoints);
    EXPECT_FALSE(world.follower().follow(world.replica(), 100ms)) << "nothing has begun";
    publisher->begin(3, origin.begin());
    world.follow(origin);
    EXPECT_EQ(world.follower().problem(), "");
    publisher->append(origin.play());
    world.follow(origin);
    EXPECT_TRUE(impatient.next(long_enough).has_value());
}

TEST(zeromq, a_publisher_that_is_started_again_is_followed_again) {
    std::optional<zeromq_publisher> publisher(free_endpoints());
    const zeromq_endpoints endpoints = publisher->endpoints();
    following_replay first(endpoints);
    following_replay second(endpoints);
    for (std::uint64_t run = 1; run != 6; ++run) {
        origin_world origin({.world = run, .first_frame = 10 - run}); // each time before what is known
        publisher->begin(10 - run, origin.begin());
        for (int i = 0; i != 10; ++i) {
            publisher->append(origin.play());
            ASSERT_NO_FATAL_FAILURE(first.follow(origin));
        }
        ASSERT_NO_FATAL_FAILURE(second.follow(origin));
        publisher.reset();
        publisher.emplace(endpoints);
    }
}

TEST(zeromq, a_publisher_begins_anew) {
    zeromq_publisher publisher(free_endpoints());
    following_replay world(publisher.endpoints());
    for (std::uint64_t run = 1; run != 6; ++run) {
        origin_world origin({.world = run, .first_frame = 3}); // the same frames each time
        publisher.begin(3, origin.begin());
        for (int i = 0; i != 5; ++i) {
            publisher.append(origin.play());
        }
        ASSERT_NO_FATAL_FAILURE(world.follow(origin));
    }
}

TEST(zeromq, the_same_frame_of_another_history_is_noticed) {
    const origin_world origin({.world = 1});
    const origin_world other({.world = 2});
    zeromq_publisher publisher(free_endpoints());
    publisher.begin(0, origin.begin());
    following_replay world(publisher.endpoints());
    world.follow(origin);
    publisher.begin(0, other.begin());
    world.follow(other);
    EXPECT_EQ(world.snapshots(), 2);
}

TEST(zeromq, a_publisher_says_where_it_is_and_what_it_has) {
    origin_world origin({.first_frame = 4});
    zeromq_publisher publisher(free_endpoints(), {.heartbeat = 5ms});
    publisher.begin(4, origin.begin());
    raw_sockets sockets;
    auto hearing = sockets.make(zmq::socket_type::sub);
    hearing.set(zmq::sockopt::subscribe, "");
    hearing.connect(publisher.endpoints().deltas);
    const auto hear = [&](detail::zeromq_kind kind, std::vector<std::byte>& payload) {
        std::string problem;
        const auto parts = receive_raw(hearing);
        EXPECT_EQ(parts.size(), 1u);
        const auto message = detail::read_zeromq_message(parts.at(0), {kind}, problem);
        EXPECT_TRUE(message.has_value()) << problem;
        payload.assign(message.value().payload.begin(), message.value().payload.end());
        return message.value().header;
    };
    std::vector<std::byte> payload;
    const detail::zeromq_header first = hear(detail::zeromq_kind::position, payload);
    EXPECT_EQ(first.frame, 4u);
    EXPECT_EQ(first.history, first.origin);
    for (int i = 0; i != 3; ++i) { // for itself, and then again and again
        const detail::zeromq_header again = hear(detail::zeromq_kind::position, payload);
        EXPECT_EQ(again.frame, 4u);
        EXPECT_EQ(again.history, first.history);
        EXPECT_EQ(again.origin, first.origin);
    }
    zeromq_publisher quiet(free_endpoints(), {.heartbeat = 1h});
    quiet.begin(4, origin.begin());
    hearing.disconnect(publisher.endpoints().deltas);
    hearing.connect(quiet.endpoints().deltas);
    detail::zeromq_header position;
    do { // what the other one has said still waits
        position = hear(detail::zeromq_kind::position, payload);
    } while (position.origin == first.origin);
    const std::vector<std::byte>& delta = origin.play();
    quiet.append(delta);
    const detail::zeromq_header told = hear(detail::zeromq_kind::delta, payload);
    EXPECT_EQ(told.origin, position.origin);
    EXPECT_EQ(told.before, 4u);
    EXPECT_EQ(told.frame, 5u);
    EXPECT_EQ(told.history, detail::history_after(position.history, delta));
    EXPECT_EQ(payload, delta);
}

/// Asks as a follower does, until the publisher is at that frame: then it has published all up to it.
void wait_until_published(const zeromq_endpoints& endpoints, std::uint64_t frame) {
    raw_sockets sockets;
    auto asking = sockets.make(zmq::socket_type::dealer);
    asking.connect(endpoints.snapshots);
    for (std::uint64_t reached = 0; reached != frame;) {
        const auto answer = ask_raw(asking, detail::bytes_of({.kind = detail::zeromq_kind::request}));
        ASSERT_EQ(answer.size(), 1u);
        std::string problem;
        const auto message = detail::read_zeromq_message(answer[0], {detail::zeromq_kind::snapshot}, problem);
        ASSERT_TRUE(message.has_value()) << problem;
        reached = message->header.frame;
    }
}

TEST(zeromq, a_follower_that_reads_nothing_loses_frames_and_catches_up) {
    origin_world origin({.frames = 101, .is_large = true});
    zeromq_publisher publisher(free_endpoints(), {.waiting_deltas = 1});
    publisher.begin(0, origin.begin());
    following_replay world(publisher.endpoints(), {.waiting_deltas = 1});
    world.follow(origin);
    for (int i = 0; i != 100; ++i) { // more than sockets of the system keep
        publisher.append(origin.play());
    }
    wait_until_published(publisher.endpoints(), 100);
    world.follow(origin);
    EXPECT_GE(world.snapshots(), 2);
    publisher.append(origin.play());
    world.follow(origin);
}

/// Sends messages of a megabyte, which none is lost of, until one has waited for so long, or there are 100.
/// Returns how many a follower that does not read has taken.
int taken_by_follower(int waiting_deltas, std::chrono::milliseconds patience) {
    raw_sockets sockets;
    auto news = sockets.make(zmq::socket_type::xpub);
    news.set(zmq::sockopt::sndhwm, 1);
    news.set(zmq::sockopt::xpub_nodrop, true);
    news.set(zmq::sockopt::sndtimeo, static_cast<int>(patience.count()));
    news.bind("tcp://127.0.0.1:*");
    const zeromq_follower follower({.deltas = news.get(zmq::sockopt::last_endpoint)},
                                   {.waiting_deltas = waiting_deltas});
    EXPECT_EQ(receive_raw(news).size(), 1u); // the subscription
    int taken = 0;
    while (taken != 100 && news.send(zmq::message_t(1 << 20), zmq::send_flags::none)) {
        ++taken;
    }
    return taken;
}

TEST(zeromq, a_follower_keeps_as_many_deltas_as_its_options_say) {
    EXPECT_LT(taken_by_follower(1, 500ms), 100);
    EXPECT_EQ(taken_by_follower(100, long_enough), 100);
}

TEST(zeromq, a_delta_is_refused_when_too_much_waits_before_it) {
    origin_world origin({.frames = 20, .is_large = true});
    std::vector<std::vector<std::byte>> deltas;
    while (deltas.size() != 20) {
        deltas.push_back(origin.play());
    }
    zeromq_publisher publisher(free_endpoints(), {.most_waiting_bytes = 1}); // of which the first is spared
    bool was_refused = false;
    const auto append = [&](std::uint64_t frame) {
        const std::vector<std::byte>& delta = deltas[frame - 1];
        while (publisher.frame() != frame) {
            const std::string refusal = message_of<publisher_behind>([&] { publisher.append(delta); });
            if (!refusal.empty()) {
                was_refused = true;
                EXPECT_EQ(refusal, "zeromq_publisher: the delta of frame " + std::to_string(frame) + " has " +
                                       std::to_string(delta.size()) +
                                       " bytes, and with those that wait there would be more than 1");
                EXPECT_EQ(publisher.frame(), frame - 1);
            }
        }
    };
    while (!was_refused) { // as soon as this thread was faster once
        publisher.begin(0, origin.begin());
        for (std::uint64_t frame = 1; frame != 21; ++frame) {
            append(frame);
        }
    }
    following_replay world(publisher.endpoints());
    world.follow(origin);
}

TEST(zeromq, sockets_of_the_system_without_a_network_are_used_too) {
    const support::scratch_directory directory;
    const zeromq_endpoints endpoints{.deltas = "ipc://" + (directory.path() / "deltas").string(),
                                     .snapshots = "ipc://" + (directory.path() / "snapshots").string()};
    origin_world origin({});
    zeromq_publisher publisher(endpoints);
    EXPECT_EQ(publisher.endpoints().deltas, endpoints.deltas);
    publisher.begin(0, origin.begin());
    following_world world(endpoints);
    world.follow(origin);
    publisher.append(origin.play());
    world.follow(origin);
}

TEST(zeromq, what_waits_is_sent_before_the_end) {
    origin_world origin({.is_large = true});
    std::optional<zeromq_publisher> publisher(std::in_place, free_endpoints(),
                                              zeromq_publisher_options{.linger = long_enough});
    publisher->begin(0, origin.begin());
    following_replay world(publisher->endpoints(), {.waiting_deltas = 1});
    world.follow(origin);
    for (int i = 0; i != 100; ++i) { // more than sockets of the system keep
        publisher->append(origin.play());
    }
    std::thread ending([&publisher] { publisher.reset(); });
    world.follow(origin);
    ending.join();
    EXPECT_EQ(world.snapshots(), 1);
}

TEST(zeromq, addresses_that_can_not_be_are_errors) {
    const zeromq_publisher publisher(free_endpoints());
    const zeromq_endpoints taken = publisher.endpoints();
    EXPECT_EQ(message_of<std::system_error>([&] { zeromq_publisher second(taken); }),
              taken.deltas + ": Address already in use");
    EXPECT_EQ(message_of<std::system_error>([&] {
                  zeromq_publisher second({.deltas = "tcp://127.0.0.1:*", .snapshots = taken.snapshots});
              }),
              taken.snapshots + ": Address already in use");
    EXPECT_EQ(message_of<std::system_error>([&] { zeromq_publisher wrong({.deltas = "tcp:/127.0.0.1"}); }),
              "tcp:/127.0.0.1: Invalid argument");
    EXPECT_EQ(message_of<std::system_error>([&] { zeromq_follower wrong({.deltas = "carrier://pigeon"}); }),
              "carrier://pigeon: Protocol not supported");
    try {
        zeromq_publisher second(taken);
        ADD_FAILURE();
    } catch (const std::system_error& error) {
        EXPECT_EQ(error.code(), std::errc::address_in_use);
    }
}

TEST(zeromq, options_that_can_not_be_are_errors) {
    const auto error_of_publisher = [](const zeromq_publisher_options& options) {
        return message_of<std::invalid_argument>([&] { zeromq_publisher wrong(free_endpoints(), options); });
    };
    EXPECT_EQ(error_of_publisher({.heartbeat = 0ms}),
              "zeromq_publisher_options::heartbeat is 0; 1 millisecond or more is allowed");
    EXPECT_EQ(error_of_publisher({.waiting_deltas = 0}),
              "zeromq_publisher_options::waiting_deltas is 0; 1 or more is allowed");
    EXPECT_EQ(error_of_publisher({.linger = -1ms}),
              "zeromq_publisher_options::linger is -1; 0 to 86400000 milliseconds is allowed");
    EXPECT_EQ(error_of_publisher({.linger = 25h}),
              "zeromq_publisher_options::linger is 90000000; 0 to 86400000 milliseconds is allowed");
    const auto error_of_follower = [](const zeromq_follower_options& options) {
        return message_of<std::invalid_argument>([&] { zeromq_follower wrong({}, options); });
    };
    EXPECT_EQ(error_of_follower({.max_snapshot_bytes = 0}),
              "zeromq_follower_options::max_snapshot_bytes is 0; 1 to 9223372036854775759 is allowed");
    EXPECT_EQ(error_of_follower({.max_delta_bytes = 0}),
              "zeromq_follower_options::max_delta_bytes is 0; 1 to 9223372036854775759 is allowed");
    EXPECT_EQ(error_of_follower({.waiting_deltas = -1}),
              "zeromq_follower_options::waiting_deltas is -1; 1 or more is allowed");
    EXPECT_EQ(error_of_follower({.patience = 0ms}),
              "zeromq_follower_options::patience is 0; 1 to 86400000 milliseconds is allowed");
}

TEST(zeromq, deltas_that_do_not_follow_are_refused) {
    origin_world origin({});
    zeromq_publisher publisher(free_endpoints());
    EXPECT_EQ(publisher.frame(), std::nullopt);
    EXPECT_EQ(message_of<std::logic_error>([&] { publisher.append({}); }),
              "zeromq_publisher: append() before begin()");
    publisher.begin(0, origin.begin());
    const auto first = origin.play();
    const auto second = origin.play();
    try {
        publisher.append(second);
        ADD_FAILURE();
    } catch (const frame_gap& gap) {
        EXPECT_STREQ(gap.what(),
                     "zeromq_publisher: the delta leads from frame 1 to frame 2; one from frame 0 "
                     "is expected");
        EXPECT_EQ(gap.here(), 0u);
        EXPECT_EQ(gap.before(), 1u);
    }
    EXPECT_EQ(message_of<invalid_snapshot>([&] { publisher.append(std::vector<std::byte>(10)); }),
              "delta 'in memory', byte 0: this is no delta; \"hp world\" is expected");
    EXPECT_EQ(message_of<invalid_snapshot>([&] { publisher.begin(5, std::vector<std::byte>(10)); }),
              "snapshot 'in memory', byte 0: this is no snapshot; \"hp world\" is expected");
    EXPECT_EQ(publisher.frame(), 0u);
    publisher.append(first);
    publisher.append(second);
    following_world world(publisher.endpoints());
    world.follow(origin);
}

TEST(zeromq, a_delta_that_contradicts_ends_the_publication_until_it_begins_anew) {
    origin_world origin({.world = 1});
    origin_world other({.world = 2});
    zeromq_publisher publisher(free_endpoints());
    publisher.begin(0, origin.begin());
    publisher.append(origin.play());
    other.play();
    const auto append_all = [&] { // of objects that are not there; the thread tells as soon as it is there
        while (other.frame() != 100) {
            publisher.append(other.play());
        }
    };
    std::string error = message_of<invalid_snapshot>(append_all);
    while (error.empty() ||
           error == "delta 'in memory', byte 0: this is no delta; \"hp world\" is expected") {
        error = message_of<invalid_snapshot>(
            [&] { publisher.append({}); }); // as soon as it knows a better reason
    }
    EXPECT_TRUE(error.starts_with("delta 'frame ")) << error;
    EXPECT_EQ(message_of<invalid_snapshot>([&] { publisher.append({}); }), error);

    origin_world next({.world = 3});
    publisher.begin(0, next.begin());
    following_world world(publisher.endpoints());
    publisher.append(next.play());
    world.follow(next);
}

TEST(zeromq, a_snapshot_that_does_not_fit_is_an_error) {
    const origin_world origin({});
    zeromq_publisher publisher(free_endpoints());
    publisher.begin(0, origin.begin());
    pool<std::uint32_t> others({.name = "others", .capacity = 10, .pool_id = 9});
    replica wrong;
    wrong.add("objects", others);
    zeromq_follower follower(publisher.endpoints());
    const auto follow = [&] { follower.follow(wrong, long_enough); };
    const std::string error = message_of<invalid_snapshot>(follow);
    EXPECT_TRUE(error.starts_with("snapshot '" + publisher.endpoints().snapshots + "', byte ")) << error;
    EXPECT_EQ(follower.problem(), error);
    EXPECT_EQ(message_of<invalid_snapshot>(follow), error) << "it is asked for again";
}

TEST(zeromq, a_replica_that_is_a_world_of_its_own_follows_no_more) {
    origin_world origin({});
    zeromq_publisher publisher(free_endpoints());
    publisher.begin(0, origin.begin());
    following_world world(publisher.endpoints());
    world.follow(origin);
    world.replica().take_over();
    publisher.append(origin.play());
    EXPECT_THROW(world.follower().follow(world.replica(), long_enough), std::logic_error);
    EXPECT_EQ(world.follower().problem(), "a message was received, and could not be used");
    const auto next = world.follower().next(long_enough);
    ASSERT_TRUE(next.has_value());
    EXPECT_TRUE(next->is_snapshot);
}

TEST(zeromq, a_snapshot_that_is_too_large_does_not_come) {
    const origin_world origin({});
    zeromq_publisher publisher(free_endpoints());
    publisher.begin(0, origin.begin());
    zeromq_follower follower(publisher.endpoints(), {.max_snapshot_bytes = 300, .patience = 200ms});
    const std::string expected =
        publisher.endpoints().snapshots + " has not answered for 200 ms; a snapshot may have 300 bytes";
    for (int i = 0; i != 100 && follower.problem() != expected;
         ++i) { // until then nothing may be heard of it
        EXPECT_FALSE(follower.next(200ms).has_value());
    }
    EXPECT_EQ(follower.problem(), expected);
}

TEST(zeromq, instead_of_a_delta_that_is_too_large_a_snapshot_comes) {
    origin_world origin({.frames = 3, .calls = 200});
    zeromq_publisher publisher(free_endpoints());
    publisher.begin(0, origin.begin());
    following_replay world(publisher.endpoints(), {.max_delta_bytes = 2'000, .patience = 300ms});
    world.follow(origin);
    for (int i = 0; i != 3; ++i) {
        publisher.append(origin.play());
        world.follow(origin);
    }
    EXPECT_EQ(world.snapshots(), 4);
}

} // namespace
} // namespace handlepool::test

// SPDX-License-Identifier: MIT

// Messages that no publisher and no follower sends.

#include <handlepool/detail/followers/frame_position.hpp>

#include <gtest/gtest.h>
#include <src/zeromq/zeromq_message.hpp>
#include <tests/support/deadline.hpp>
#include <tests/support/message_of.hpp>
#include <tests/zeromq/followed_world.hpp>
#include <tests/zeromq/raw_zeromq.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <span>
#include <string>
#include <vector>

namespace handlepool::test {
namespace {

using namespace std::chrono_literals;
using detail::zeromq_header;
using detail::zeromq_kind;

std::vector<std::byte> message_with(const zeromq_header& header, std::span<const std::byte> payload = {}) {
    const auto bytes = detail::bytes_of(header);
    std::vector<std::byte> all(bytes.begin(), bytes.end());
    all.insert(all.end(), payload.begin(), payload.end());
    return all;
}

const std::vector<std::byte> request = message_with({.kind = zeromq_kind::request});

/// Sends what is no request, and then one; returns so many more messages the publisher has refused then.
std::uint64_t refused(const zeromq_publisher& publisher, zmq::socket_type type,
                      const std::function<void(zmq::socket_t&)>& send) {
    const std::uint64_t before = publisher.malformed_messages();
    raw_sockets sockets;
    auto stranger = sockets.make(type);
    stranger.connect(publisher.endpoints().snapshots);
    send(stranger);
    auto asking = sockets.make(zmq::socket_type::dealer);
    asking.connect(publisher.endpoints().snapshots);
    // The publisher takes from one and the other in turn, so after some answers it has had all.
    std::uint64_t refused = 0;
    const test::deadline late;
    for (int i = 0; i < 3 || (refused == 0 && !late.has_passed()); ++i) {
        EXPECT_EQ(ask_raw(asking, request).size(), 1u);
        refused = publisher.malformed_messages() - before;
    }
    return refused;
}

TEST(zeromq_strangers, a_publisher_answers_requests_alone) {
    origin_world origin({});
    zeromq_publisher publisher(free_endpoints());
    publisher.begin(0, origin.begin());
    const auto refused_bytes = [&](std::span<const std::byte> bytes) {
        return refused(publisher, zmq::socket_type::dealer,
                       [&](zmq::socket_t& stranger) { send_raw(stranger, bytes); });
    };
    EXPECT_EQ(refused_bytes({}), 1u);
    EXPECT_EQ(refused_bytes(bytes_of_text("hello")), 1u);
    EXPECT_EQ(refused_bytes(std::vector<std::byte>(48)), 1u);
    EXPECT_EQ(refused_bytes(std::vector<std::byte>(200)), 1u);
    EXPECT_EQ(refused_bytes(std::span(request).first(47)), 1u);
    EXPECT_EQ(refused_bytes(message_with({.kind = zeromq_kind::request, .frame = 1})), 1u);
    EXPECT_EQ(refused_bytes(message_with({.kind = zeromq_kind::request}, bytes_of_text("more"))), 1u);
    EXPECT_EQ(refused_bytes(message_with({.kind = zeromq_kind::position})), 1u);
    EXPECT_EQ(refused(publisher, zmq::socket_type::req,
                      [](zmq::socket_t& stranger) { send_raw(stranger, request); }),
              1u)
        << "a part too many";
    EXPECT_EQ(refused(publisher, zmq::socket_type::dealer,
                      [](zmq::socket_t& stranger) {
                          for (int i = 0; i != 1'000; ++i) {
                              send_raw(stranger, request, zmq::send_flags::sndmore);
                          }
                          send_raw(stranger, request);
                      }),
              1u)
        << "a thousand parts too many";

    following_world world(publisher.endpoints());
    world.follow(origin);
    publisher.append(origin.play());
    world.follow(origin);
}

/// Whether the other end has ended the connection after that message.
void expect_disconnection(zmq::socket_type type, const std::string& endpoint, std::size_t size) {
    raw_sockets sockets;
    auto stranger = sockets.make(type);
    ASSERT_EQ(zmq_socket_monitor(stranger.handle(), "inproc://events", ZMQ_EVENT_DISCONNECTED), 0);
    auto events = sockets.make(zmq::socket_type::pair);
    events.connect("inproc://events");
    stranger.connect(endpoint);
    send_raw(stranger, std::vector<std::byte>(size, std::byte{1}));
    EXPECT_EQ(receive_raw(events).size(), 2u) << endpoint;
}

TEST(zeromq_strangers, whoever_sends_what_is_too_large_is_disconnected) {
    origin_world origin({});
    zeromq_publisher publisher(free_endpoints());
    publisher.begin(0, origin.begin());
    expect_disconnection(zmq::socket_type::dealer, publisher.endpoints().snapshots, 257);
    expect_disconnection(zmq::socket_type::xsub, publisher.endpoints().deltas, 257);
    EXPECT_EQ(publisher.malformed_messages(), 0u);
    following_world world(publisher.endpoints());
    world.follow(origin);
}

TEST(zeromq_strangers, a_publisher_does_not_mind_what_subscribers_say) {
    origin_world origin({});
    zeromq_publisher publisher(free_endpoints());
    publisher.begin(0, origin.begin());
    raw_sockets sockets;
    auto stranger = sockets.make(zmq::socket_type::xsub);
    stranger.connect(publisher.endpoints().deltas);
    for (const char* const each : {"", "hello", "\1 a topic", "\2"}) {
        send_raw(stranger, bytes_of_text(each));
    }
    send_raw(stranger, std::vector<std::byte>(1)); // ends a subscription that is none
    send_raw(stranger, std::vector<std::byte>(1, std::byte{1}));
    EXPECT_EQ(receive_raw(stranger).size(), 1u);
    following_world world(publisher.endpoints());
    world.follow(origin);
    publisher.append(origin.play());
    world.follow(origin);
}

/// A follower of a publisher that is the test's.
class zeromq_follower_of_strangers : public testing::Test {
protected:
    static constexpr std::uint64_t begin_history = 77;

    zeromq_header position() const {
        return {.kind = zeromq_kind::position,
                .origin = begin_history,
                .before = origin_.frame(),
                .frame = origin_.frame(),
                .history = history_};
    }
    /// Of the frame that it is at.
    std::vector<std::byte> snapshot_message() const {
        zeromq_header header = position();
        header.kind = zeromq_kind::snapshot;
        std::vector<std::byte> bytes;
        past_.save(bytes);
        return message_with(header, bytes);
    }
    /// Goes on to the next frame.
    std::vector<std::byte> next_delta() {
        const std::vector<std::byte>& delta = origin_.play();
        past_.apply(delta);
        history_ = detail::history_after(history_, delta);
        zeromq_header header = position();
        header.kind = zeromq_kind::delta;
        --header.before;
        return message_with(header, delta);
    }

    /// Lets the follower ask, which has heard nothing yet or has lost something, and answers.
    void answer(const std::vector<std::byte>& message) {
        publisher_.wait_for_subscription();
        publisher_.tell(message_with(position()));
        auto following = std::async(std::launch::async, [this] { return follow(); });
        EXPECT_EQ(publisher_.answer(message), request);
        EXPECT_TRUE(following.get()) << world_.follower().problem();
    }
    bool follow() { return world_.follower().follow(world_.replica(), long_enough); }
    void expect_same() const { EXPECT_EQ(world_.hash(), origin_.at(origin_.frame()).of_objects); }

    /// Receives a message that is none. What it says is wrong.
    std::string problem_with(const std::function<void()>& tell) {
        const std::uint64_t before = world_.follower().malformed_messages();
        tell();
        while (world_.follower().malformed_messages() == before) {
            EXPECT_FALSE(world_.follower().next(10ms).has_value());
        }
        EXPECT_EQ(world_.follower().malformed_messages(), before + 1);
        return world_.follower().problem();
    }
    /// The same of something else that makes it ask again.
    std::string loss_with(const std::vector<std::byte>& message) {
        EXPECT_EQ(world_.follower().problem(), "");
        publisher_.tell(message);
        while (world_.follower().problem().empty()) {
            EXPECT_FALSE(world_.follower().follow(world_.replica(), 10ms));
        }
        return world_.follower().problem();
    }

    origin_world origin_{{}};
    std::uint64_t history_ = begin_history;
    replay past_{origin_.begin(), 0};
    raw_publisher publisher_;
    following_world world_{publisher_.endpoints(), {.patience = long_enough}};
};

TEST_F(zeromq_follower_of_strangers, passes_over_what_is_no_message) {
    answer(snapshot_message());
    const std::string begin = "a message of " + publisher_.endpoints().deltas + " is none: ";
    const auto problem_of = [this](std::span<const std::byte> bytes) {
        return problem_with([&] { publisher_.tell(bytes); });
    };
    EXPECT_EQ(problem_of({}), begin + "it has 0 bytes; the header alone has 48");
    EXPECT_EQ(problem_of(bytes_of_text("hello")), begin + "it has 5 bytes; the header alone has 48");
    EXPECT_EQ(problem_of(std::vector<std::byte>(1'000)), begin + "it does not begin with 'hp frame'");
    auto later_format = message_with(position());
    later_format[8] = std::byte{2};
    EXPECT_EQ(problem_of(later_format), begin + "it has the format 2; known is 1");
    EXPECT_EQ(problem_of(snapshot_message()), begin + "it is of kind 2; 3 or 4 is expected");
    EXPECT_EQ(problem_of(request), begin + "it is of kind 1; 3 or 4 is expected");
    EXPECT_EQ(problem_of(message_with(position(), bytes_of_text("more"))),
              begin + "there are 4 bytes behind the header; none are expected");
    EXPECT_EQ(problem_with([&] { publisher_.tell_in_two_parts(message_with(position())); }),
              begin + "it has 2 parts; 1 is expected");

    publisher_.tell(next_delta());
    EXPECT_TRUE(follow());
    expect_same();
    EXPECT_EQ(world_.follower().problem(), "");
}

TEST_F(zeromq_follower_of_strangers, waits_for_an_answer_that_is_one) {
    publisher_.wait_for_subscription();
    publisher_.tell(message_with(position()));
    auto following = std::async(std::launch::async, [this] { return follow(); });
    publisher_.answer(bytes_of_text("hello"));
    publisher_.answer_again(message_with(position()));
    publisher_.answer_again(snapshot_message());
    EXPECT_TRUE(following.get());
    expect_same();
    EXPECT_EQ(world_.follower().malformed_messages(), 2u);
}

TEST_F(zeromq_follower_of_strangers, passes_over_deltas_before_its_snapshot) {
    publisher_.wait_for_subscription();
    for (int i = 0; i != 5; ++i) {
        publisher_.tell(next_delta());
    }
    auto following = std::async(std::launch::async, [this] { return follow(); });
    EXPECT_EQ(publisher_.answer(snapshot_message()), request);
    EXPECT_TRUE(following.get());
    EXPECT_EQ(world_.replica().frame(), 5u);
    expect_same();
    publisher_.tell(next_delta());
    EXPECT_TRUE(follow());
    expect_same();
}

TEST_F(zeromq_follower_of_strangers, asks_again_when_a_delta_is_missing) {
    answer(snapshot_message());
    next_delta(); // lost
    EXPECT_EQ(loss_with(next_delta()),
              "frames are missing: here is 0, and what comes next leads from 1 to 2");
    answer(snapshot_message());
    EXPECT_EQ(world_.replica().frame(), 2u);
    expect_same();
    next_delta(); // lost, and nothing comes after it
    EXPECT_EQ(loss_with(message_with(position())),
              "frames are missing: here is 2, and what comes next is of 3");
    answer(snapshot_message());
    expect_same();
    publisher_.tell(next_delta());
    EXPECT_TRUE(follow());
    expect_same();
}

TEST_F(zeromq_follower_of_strangers, asks_again_when_a_delta_is_of_another_history) {
    answer(snapshot_message());
    auto damaged = next_delta();
    damaged.back() ^= std::byte{1};
    EXPECT_EQ(loss_with(damaged), "frame 1 has another history here");
    answer(snapshot_message());
    expect_same();
    auto other = position();
    other.origin = 3;
    EXPECT_EQ(loss_with(message_with(other)), "the publisher has begun anew, with frame 1 or before");
    answer(snapshot_message());
    expect_same();
}

TEST_F(zeromq_follower_of_strangers, asks_again_when_its_replica_refuses_a_delta) {
    answer(snapshot_message());
    const auto no_delta = bytes_of_text("this is no delta");
    EXPECT_EQ(loss_with(message_with({.kind = zeromq_kind::delta,
                                      .origin = begin_history,
                                      .before = 0,
                                      .frame = 1,
                                      .history = detail::history_after(history_, no_delta)},
                                     no_delta)),
              "delta '" + publisher_.endpoints().deltas +
                  "', byte 0: this is no delta; \"hp world\" is expected");
    expect_same();
    next_delta();
    answer(snapshot_message());
    expect_same();
}

TEST_F(zeromq_follower_of_strangers, goes_on_where_it_was_if_nothing_is_missing) {
    answer(snapshot_message());
    auto following = std::async(std::launch::async, [this] { return follow(); });
    publisher_.disconnect_followers();
    publisher_.wait_for_subscription();
    publisher_.tell(message_with(position()));
    publisher_.tell(next_delta());
    EXPECT_TRUE(following.get());
    expect_same();
    EXPECT_EQ(world_.replica().frame(), 1u);
}

} // namespace
} // namespace handlepool::test

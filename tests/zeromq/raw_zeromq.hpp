// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/zeromq/zeromq_endpoints.hpp>

#include <gtest/gtest.h>
#include <tests/zeromq/followed_world.hpp>
#include <zmq.hpp>

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// Ends of a connection that send whatever they like.
namespace handlepool::test {

inline std::span<const std::byte> bytes_of_text(std::string_view text) {
    return std::as_bytes(std::span(text));
}

/// Sockets of a context of their own.
class raw_sockets {
public:
    zmq::socket_t make(zmq::socket_type type) {
        zmq::socket_t made(context_, type);
        made.set(zmq::sockopt::linger, 0);
        made.set(zmq::sockopt::rcvtimeo, static_cast<int>(std::chrono::milliseconds(long_enough).count()));
        return made;
    }

private:
    zmq::context_t context_;
};

inline void send_raw(zmq::socket_t& socket, std::span<const std::byte> bytes,
                     zmq::send_flags flags = zmq::send_flags::none) {
    socket.send(zmq::message_t(bytes.data(), bytes.size()), flags);
}

/// All parts of the next message; none if it does not come.
inline std::vector<std::vector<std::byte>> receive_raw(zmq::socket_t& socket) {
    std::vector<std::vector<std::byte>> parts;
    zmq::message_t part;
    do {
        if (!socket.recv(part)) {
            return {};
        }
        const auto* const data = static_cast<const std::byte*>(part.data());
        parts.emplace_back(data, data + part.size());
    } while (part.more());
    return parts;
}

/// Sends a request, and again where it is not answered: a publisher waits for nobody whose answers pile up on
/// the way.
inline std::vector<std::vector<std::byte>> ask_raw(zmq::socket_t& socket,
                                                   std::span<const std::byte> request) {
    socket.set(zmq::sockopt::rcvtimeo, 500);
    const auto end = std::chrono::steady_clock::now() + long_enough;
    std::vector<std::vector<std::byte>> answer;
    while (answer.empty() && std::chrono::steady_clock::now() < end) {
        send_raw(socket, request);
        answer = receive_raw(socket);
    }
    return answer;
}

/// A publisher that says what a test wants.
class raw_publisher {
public:
    raw_publisher() : news_(make_news()), answers_(sockets_.make(zmq::socket_type::router)) {
        news_.bind("tcp://127.0.0.1:*");
        answers_.bind("tcp://127.0.0.1:*");
        endpoints_ = {.deltas = news_.get(zmq::sockopt::last_endpoint),
                      .snapshots = answers_.get(zmq::sockopt::last_endpoint)};
    }

    const zeromq_endpoints& endpoints() const { return endpoints_; }
    void wait_for_subscription() {
        std::vector<std::vector<std::byte>> event;
        do { // a follower that asks again ends one before
            event = receive_raw(news_);
            ASSERT_EQ(event.size(), 1u);
        } while (event[0] != std::vector<std::byte>{std::byte{1}});
    }
    void tell(std::span<const std::byte> message) { send_raw(news_, message); }
    void tell_in_two_parts(std::span<const std::byte> message) {
        send_raw(news_, message, zmq::send_flags::sndmore);
        send_raw(news_, {});
    }
    /// Waits for a request, which it returns, and answers it.
    std::vector<std::byte> answer(std::span<const std::byte> message) {
        const auto request = receive_raw(answers_);
        if (request.size() != 2) {
            ADD_FAILURE() << "the request has " << request.size() << " parts";
            return {};
        }
        asking_ = request[0];
        answer_again(message);
        return request[1];
    }
    /// Sends more to the same follower, which has not asked for it.
    void answer_again(std::span<const std::byte> message) {
        send_raw(answers_, asking_, zmq::send_flags::sndmore);
        send_raw(answers_, message);
    }
    /// They connect again by themselves.
    void disconnect_followers() {
        news_.unbind(endpoints_.deltas);
        news_.close();
        news_ = make_news();
        for (bool is_bound = false; !is_bound;) { // as soon as the system has ended the one before
            is_bound = zmq_bind(news_.handle(), endpoints_.deltas.c_str()) == 0;
        }
    }

private:
    zmq::socket_t make_news() {
        auto made = sockets_.make(zmq::socket_type::xpub);
        made.set(zmq::sockopt::xpub_verbose, true);
        return made;
    }

    raw_sockets sockets_;
    zmq::socket_t news_;
    zmq::socket_t answers_;
    zeromq_endpoints endpoints_;
    std::vector<std::byte> asking_;
};

} // namespace handlepool::test

// SPDX-License-Identifier: MIT
#pragma once

#include <zmq.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

// Sockets of ZeroMQ, whose errors are std::system_error, and calls that signals don't end.
namespace handlepool::detail {

using zeromq_clock = std::chrono::steady_clock;

struct zeromq_limits {
    int waiting = 0;         ///< so many messages wait to be sent or received, for each peer; 0: any number
    std::size_t largest = 0; ///< whoever sends a larger one is disconnected
};

/// The handshake has messages, too, so a limit below this one would let nobody in.
inline constexpr std::size_t least_zeromq_limit = 256;

/// Throws std::system_error, here and below.
zmq::socket_t make_zeromq_socket(zmq::context_t& context, zmq::socket_type type, const zeromq_limits& limits);
/// Returns the address as it is then, and names it in errors.
std::string bind_zeromq(zmq::socket_t& socket, const std::string& endpoint);
void connect_zeromq(zmq::socket_t& socket, const std::string& endpoint);

/// A message, of which there are the first parts. More are counted only.
struct zeromq_parts {
    std::array<zmq::message_t, 2> first;
    std::size_t count = 0;
};

/// Receives a message if one is there.
bool try_receive(zmq::socket_t& socket, zeromq_parts& parts);

/// Returns whether it was taken to be sent. If not, it will not be.
bool try_send(zmq::socket_t& socket, zmq::message_t&& message, zmq::send_flags flags = zmq::send_flags::none);

/// Returns when one of them has something, when the time has come, or after a signal.
void wait_for_messages(std::initializer_list<zmq::socket_t*> sockets, zeromq_clock::time_point until);

/// Header and payload in one piece.
zmq::message_t made_message(std::span<const std::byte> header, std::span<const std::byte> payload = {});

inline std::span<const std::byte> bytes_of(const zmq::message_t& message) noexcept {
    return {static_cast<const std::byte*>(message.data()), message.size()};
}

/// Throws std::invalid_argument unless that is so.
void require_option(bool is_allowed, std::string_view name, std::int64_t value, std::string_view allowed);

} // namespace handlepool::detail

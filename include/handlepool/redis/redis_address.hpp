// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>

#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace handlepool {

/// Where a server of Redis is. What is sent there can be read on the way: on a network that others use, a
/// tunnel leads there, or the path of a socket that a tunnel listens on.
struct redis_address {
    std::string host = "127.0.0.1"; ///< a name, or an address of IPv4 or IPv6
    std::uint16_t port = 6379;      ///< of TCP
    std::string path{};             ///< of a socket of Unix, in place of host and port
    std::string user{};             ///< empty: the default one
    std::string password{};         ///< empty: none is asked for
    /// For a connection to come about, and for each part of an answer: from a millisecond to a day.
    std::chrono::milliseconds timeout = std::chrono::seconds(1);
};

/// A server that can't be reached, does not answer in time, or refuses. The message names it.
class HANDLEPOOL_EXPORT redis_error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

} // namespace handlepool

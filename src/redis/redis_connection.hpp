// SPDX-License-Identifier: MIT
#pragma once

#include "redis_reply.hpp"

#include <handlepool/redis/redis_address.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

struct redisContext;
struct redisReader;

namespace handlepool::detail {

/// A connection to a server. After an error it is of no more use.
class redis_connection {
public:
    /// Connects, and says who it is. Throws redis_error and std::bad_alloc, here and below.
    explicit redis_connection(const redis_address& address);

    /// Sends a command, and returns the answer, which is none of an error and has so many bytes at most. It
    /// may come that much later than the time of the address says.
    redis_reply call(std::span<const std::string_view> command, std::size_t most_bytes,
                     std::chrono::milliseconds later = {});

private:
    void send(std::string_view bytes);
    redis_reply receive(std::size_t most_bytes, std::chrono::milliseconds timeout);
    /// After a call that has failed, by `errno`: returns if a signal has interrupted it and there is time.
    void require_patience(std::chrono::steady_clock::time_point until) const;
    [[noreturn]] void refuse(std::string_view problem) const;

    std::string name_; // for messages
    std::chrono::milliseconds timeout_;
    std::unique_ptr<redisContext, void (*)(redisContext*)> context_;
    std::unique_ptr<redisReader, void (*)(redisReader*)> reader_;
};

} // namespace handlepool::detail

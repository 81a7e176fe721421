// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/snapshots/frame_message.hpp>
#include <handlepool/zeromq/zeromq_endpoints.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace handlepool {

class replica;

/// How a world is followed.
struct zeromq_follower_options {
    /// Whatever is larger is not received.
    std::size_t max_snapshot_bytes = std::size_t{1} << 30;
    std::size_t max_delta_bytes = std::size_t{1} << 26;
    /// So many deltas wait until next() is called. Those that come then are lost, and a snapshot is asked
    /// for.
    int waiting_deltas = 1000;
    /// The publisher is connected to again when nothing was heard of it for so long, which is more than its
    /// heartbeat; or when it has not answered, and then it has twice as long each time, up to 64 times.
    std::chrono::milliseconds patience = std::chrono::milliseconds(2000);
};

/// Receives what a zeromq_publisher sends: a snapshot, and then the delta of each frame since.
///
///     handlepool::replica world;
///     world.add("ships", ships);
///     handlepool::zeromq_follower origin;
///     for (;;) {
///         while (origin.follow(world, 0ms)) {
///         }
///         draw(ships);
///     }
///
/// It asks for a snapshot when it has heard the publisher for the first time, when it has missed a frame, and
/// when the publisher has begun anew, in this process or another. Until the publisher is there, and while it
/// is away, nothing comes. No message takes more memory than the options allow, and ZeroMQ itself: which
/// keeps all parts of one until the last is there, so that a stranger in the publisher's place could send
/// without end. One thread at a time uses it.
class HANDLEPOOL_EXPORT zeromq_follower {
public:
    /// Throws std::system_error, which names the address, for one that can't be; std::invalid_argument for
    /// options that can't be, and std::bad_alloc. That nobody is there yet is no error.
    explicit zeromq_follower(const zeromq_endpoints& endpoints = {},
                             const zeromq_follower_options& options = {});
    ~zeromq_follower();
    zeromq_follower(const zeromq_follower&) = delete;
    zeromq_follower& operator=(const zeromq_follower&) = delete;

    /// What comes next: a snapshot, or the delta that follows what was given last. Waits at most so long;
    /// with 0 it gives what is there. Nothing if nothing has come. Throws std::system_error if the system has
    /// no sockets left, and std::bad_alloc.
    std::optional<frame_message> next(std::chrono::milliseconds timeout);

    /// Lets a replica receive what comes next, and returns whether something has come. It is the same replica
    /// each time; what it does not follow, replica::passed_over() says. Waits at most so long. A delta that
    /// the replica refuses is passed over, and a snapshot asked for. Throws what next() does; what
    /// replica::load() throws, for a snapshot that does not fit what was added; and what replica::apply()
    /// throws but invalid_snapshot, such as std::logic_error after take_over(). Then a snapshot comes next.
    bool follow(replica& world, std::chrono::milliseconds timeout);

    /// The frame of what was given last; nothing before.
    std::optional<std::uint64_t> frame() const noexcept;

    /// Why nothing comes, or the world was or will be loaded again; empty if all is well.
    const std::string& problem() const noexcept;

    /// So many messages have come that no publisher sends.
    std::uint64_t malformed_messages() const noexcept;

private:
    class impl;
    std::unique_ptr<impl> impl_;
};

} // namespace handlepool

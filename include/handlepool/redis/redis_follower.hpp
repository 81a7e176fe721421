// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/redis/redis_address.hpp>
#include <handlepool/redis/redis_lease.hpp>
#include <handlepool/snapshots/frame_message.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace handlepool {

class replica;

/// What a follower takes. More is refused, before there is memory for it.
struct redis_follower_options {
    std::size_t most_snapshot_bytes = std::size_t{1} << 30; ///< of a snapshot
    std::size_t most_delta_bytes = std::size_t{64} << 20;   ///< of the delta of a frame
};

/// Follows a log of frames in Redis, of which a redis_publisher appends each, and takes it over when that is
/// no more.
///
/// ```
///   origin      append(1)  append(2)  append(3)  ✝
///                   │          │          │
///   log      ───────┴──────────┴──────────┴──────────────────┬────▶
///                              │          │                  │
///   standby      next(): snapshot of 2, delta of 3, nothing  │ try_take_over() ─▶ redis_publisher
/// ```
///
///     handlepool::redis_follower log({.port = 6379}, "ships");
///     while (!lease) {
///         if (!log.follow(world, 20ms)) {          // there is no more
///             lease = log.try_take_over("server 2", 500ms);
///         }
///     }
///     world.take_over();
///
/// While the server is away, calls give nothing, and connect again when it is back. Then, and after anything
/// else that makes the log another one than it was, a follower goes on where it was, or begins with a
/// snapshot. It makes no thread. One thread at a time uses it, any. A moved-from one can only be destroyed
/// and assigned to.
class HANDLEPOOL_EXPORT redis_follower {
public:
    /// Of the log of that name. Connects when it is used first. Throws std::invalid_argument for an empty
    /// name, one with a brace or of more than 255 bytes, and an address whose time can't be, and
    /// std::bad_alloc.
    redis_follower(redis_address address, std::string name, redis_follower_options options = {});
    ~redis_follower();
    redis_follower(redis_follower&& other) noexcept;
    redis_follower& operator=(redis_follower&& other) noexcept;

    /// The next message, for which it waits so long at most: first a snapshot, and from there on the delta
    /// of each frame. A snapshot again when deltas are missing: trimmed, or of another history; but not the
    /// one from which none leads on: problem() says so, until there is another one. Nothing if nothing has
    /// come, or problem() says what was wrong at last. The time can be exceeded by that of the
    /// address where the server does not answer, and by what it takes to read a snapshot. Throws
    /// std::bad_alloc; then the call can be repeated.
    std::optional<frame_message> next(std::chrono::milliseconds timeout);

    /// Loads or applies the next message, and returns whether there was one. What the replica does not
    /// follow, replica::passed_over() says. If the replica refuses a delta, problem() says why, a snapshot
    /// comes next, and the call takes 100 milliseconds, if it has as many. Throws what replica::load() does,
    /// and for a delta what replica::apply() does beside invalid_snapshot; a snapshot comes next then, too.
    bool follow(replica& world, std::chrono::milliseconds timeout);

    /// Takes the log over, if nobody has its lease, and all of the log was returned by next() or given to
    /// follow(): so a log that was never begun is taken over at once, by the first. Then the next message is
    /// a snapshot, for who loses the log again. Returns nothing if another one has the lease or there is more
    /// to read, and if problem() says that the server could not be asked. The lease ends after this time,
    /// from a millisecond to a day, unless a publisher renews it. `holder` is for people who look into the
    /// log. Throws std::invalid_argument for another time, and std::bad_alloc.
    std::optional<redis_lease> try_take_over(std::string_view holder, std::chrono::milliseconds time_to_live);

    /// Makes the next message a snapshot: for a replica that is not what it was, such as one that was taken
    /// over.
    void rejoin() noexcept;

    /// The frame of the last message; nothing before the first one, and where a snapshot comes next.
    std::optional<std::uint64_t> frame() const noexcept;

    /// What was wrong in the last call, such as a server that is away; empty if nothing.
    const std::string& problem() const noexcept;

private:
    struct state;
    std::unique_ptr<state> state_;
};

} // namespace handlepool

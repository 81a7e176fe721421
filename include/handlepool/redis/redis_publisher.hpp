// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/redis/redis_address.hpp>
#include <handlepool/redis/redis_lease.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace handlepool {

/// How a log is written.
struct redis_publisher_options {
    /// A snapshot for followers that come late after so many frames of the log, at least 1, whoever has
    /// published them. The log keeps the deltas since the one before.
    std::uint64_t snapshot_every = 1000;
    /// When more wait, because the server is away or slow, they are forgotten: followers get a snapshot.
    std::size_t most_waiting_bytes = std::size_t{64} << 20;
};

/// Appends the delta of each frame to a log in Redis, and a snapshot from time to time.
///
///     handlepool::redis_publisher log({.port = 6379}, "ships", *lease);
///     game.save(bytes);
///     changes.begin(frame);
///     log.begin(frame, bytes);
///     ...
///     changes.append(++frame, delta);
///     log.append(delta);                       // returns at once
///     if (log.wait(frame, 100ms)) {
///         ...                                  // now somebody outside may be told of it
///     }
///
/// A thread of its own sends what is appended, makes snapshots, from the deltas, and renews the lease; after
/// it has lost the server, it connects again and goes on where the log is. A frame is published when the log
/// has it: then a standby that takes over has it, too. So what a frame does to the outside, an answer to a
/// player for example, waits for wait(). As long as another process has not taken the lease, frames are
/// published in order and none is left out, but as the options say.
///
/// A server that forgets what it has acknowledged when it crashes, as with `appendfsync everysec`, loses
/// frames, and the log goes on with a snapshot of the next one. One with `appendfsync always` loses none.
///
/// Redis holds no snapshot and no delta of more than 512 MiB, unless its `proto-max-bulk-len` is larger:
/// problem() says so.
///
/// One thread at a time uses it, any; frame() and problem() may be called by others at any time. It costs as
/// much memory as the world's snapshot, and twice that while it sends one. Its end waits for an answer of the
/// server, for the time of the address at most, but not for what was not sent.
class HANDLEPOOL_EXPORT redis_publisher {
public:
    /// Renews the lease from here on. Throws std::invalid_argument for what can't be,
    /// std::system_error if the system has no thread, and std::bad_alloc.
    redis_publisher(redis_address address, std::string name, const redis_lease& lease,
                    redis_publisher_options options = {});
    ~redis_publisher();
    redis_publisher(const redis_publisher&) = delete;
    redis_publisher& operator=(const redis_publisher&) = delete;

    /// Begins with a snapshot of this frame, from which the first delta leads on. If the lease says where the
    /// log ends, that is the frame, and the snapshot is one of the world as it was followed, before anything
    /// in it is changed: those who have followed so far go on with that delta. A log that was never begun
    /// begins with any frame, which is published when followers can have the snapshot. Linear. Throws
    /// std::invalid_argument for a log that ends at another frame, std::logic_error if it was called before,
    /// what replay does, and lease_lost.
    void begin(std::uint64_t frame, std::span<const std::byte> snapshot);

    /// Publishes the delta of the next frame, soon. Linear in its bytes, which are copied, and waits for
    /// nobody. Throws
    /// frame_gap if it does not lead on from the frame before, invalid_snapshot for bytes that are no delta,
    /// std::logic_error before begin(), lease_lost, and std::bad_alloc; then nothing was appended. If the
    /// snapshot does not go with the deltas, throws what replay::apply() does, at a later call: and nothing
    /// more is published.
    void append(std::span<const std::byte> delta);

    /// Waits until this frame is published, for so long at most, and returns whether it is. Throws what
    /// append() does.
    bool wait(std::uint64_t frame, std::chrono::milliseconds timeout);

    /// Publishes what was appended, in this time, and gives the lease up, so that a standby takes over at
    /// once. Returns whether both were done; else the lease ends by itself. Afterwards append() throws
    /// lease_lost. Throws what append() does.
    bool release(std::chrono::milliseconds timeout);

    /// The last frame that is published; nothing before the first one.
    std::optional<std::uint64_t> frame() const;

    /// What is wrong with the server; empty if nothing.
    std::string problem() const;

private:
    class writer;
    std::unique_ptr<writer> writer_;
};

} // namespace handlepool

// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/snapshots/frame_gap.hpp>
#include <handlepool/snapshots/invalid_snapshot.hpp>
#include <handlepool/zeromq/publisher_behind.hpp>
#include <handlepool/zeromq/zeromq_endpoints.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

namespace handlepool {

/// How frames are published.
struct zeromq_publisher_options {
    /// Followers are told the frame when nothing else was sent for so long: they see then that they have
    /// missed one, and that the publisher is there.
    std::chrono::milliseconds heartbeat = std::chrono::milliseconds(100);
    /// So many deltas wait for a follower that doesn't keep up. It loses those that come then, and asks for a
    /// snapshot.
    int waiting_deltas = 1000;
    /// When more than these would wait for the publisher's own thread, append() refuses.
    std::size_t most_waiting_bytes = std::size_t{64} << 20;
    /// The destructor waits at most so long for followers to be sent what was appended.
    std::chrono::milliseconds linger = std::chrono::milliseconds(0);
};

/// Sends the deltas of a delta_recorder to followers in other processes, by ZeroMQ, as soon as they are
/// there.
///
/// ```
///   game       begin(0, snapshot)   append(d1)   append(d2) ...     never waits for the network
///                      │                │            │
///   its thread    a world of its own ◀──┴────────────┴──▶ deltas ──────────────────▶ all followers
///                      └──── a snapshot, for each who comes late or has missed one ▶ that follower
/// ```
///
///     handlepool::zeromq_publisher followers;
///     game.save(bytes);
///     changes.begin(0);
///     followers.begin(0, bytes);
///     ...
///     changes.append(1, delta);
///     followers.append(delta);
///
/// Its thread makes the snapshots for followers from what was published, so the game saves none for them, and
/// no frame waits. While there is no memory for that, followers wait. Nothing is kept for followers that are
/// not there: what they need is a history, use a journal. One thread at a time uses it.
class HANDLEPOOL_EXPORT zeromq_publisher {
public:
    /// Takes the addresses; a port of `*` is any that is free. Throws std::system_error, which names the
    /// address, such as one that is in use; std::invalid_argument for options that can't be, and
    /// std::bad_alloc.
    explicit zeromq_publisher(const zeromq_endpoints& endpoints = {},
                              const zeromq_publisher_options& options = {});
    /// Publishes what was appended, and ends its thread.
    ~zeromq_publisher();
    zeromq_publisher(const zeromq_publisher&) = delete;
    zeromq_publisher& operator=(const zeromq_publisher&) = delete;

    /// Begins with a snapshot that was saved at the end of this frame. Followers load it, also if they follow
    /// already: each begin() is the begin of another history, and of an earlier one no more is published.
    /// Linear in the bytes. Throws invalid_snapshot for bytes that are none, and std::bad_alloc; then nothing
    /// has changed.
    void begin(std::uint64_t frame, std::span<const std::byte> snapshot);

    /// Publishes the delta of the next frame, and waits for nothing. Linear in the bytes, which are copied,
    /// and whose hashes are checked. Throws std::logic_error without a begin(); frame_gap for a delta that
    /// follows another frame; invalid_snapshot for bytes that are no delta; publisher_behind when too many
    /// wait, and std::bad_alloc: then nothing has changed, and the same delta can be appended later, or
    /// begin() goes on without it. Throws what has ended the publication of a delta before, such as
    /// invalid_snapshot for one that contradicts what there was: then nothing is published until begin().
    void append(std::span<const std::byte> delta);

    /// The frame of the last delta that was appended, or of the snapshot; nothing before begin().
    std::optional<std::uint64_t> frame() const noexcept;

    /// The addresses that it has, with the ports that were free.
    const zeromq_endpoints& endpoints() const noexcept;

    /// So many messages have come that no follower sends. Of any thread.
    std::uint64_t malformed_messages() const noexcept;

private:
    class impl;
    std::unique_ptr<impl> impl_;
};

} // namespace handlepool

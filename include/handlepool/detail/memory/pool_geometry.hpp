// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/pool_options.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace handlepool::detail {

/// Slot indices are 32-bit words, whose last value names no slot.
inline constexpr std::size_t most_slots = 0xffff'fffe;

/// The sizes that follow from a pool's options, its handle layout and its batch sizes.
struct pool_geometry {
    std::size_t capacity = 0;
    std::size_t reuse_delay = 0;
    std::size_t slot_limit = 0;
    std::size_t removal_queue_size = 0;
    std::size_t max_threads = 0;
    std::size_t spawners = 0;
    /// Slots that idle shards may hold without taking from the capacity.
    std::size_t shard_slack = 0;
    /// The most slots that are in service and not retired, and so the most objects at any time.
    std::size_t object_limit = 0;
    /// Positions of the dense store, if there is one.
    std::size_t dense_positions = 0;
    std::size_t nursery_chunks = 0;
    std::size_t removal_chunks = 0;
    /// Positions of each. A small pool has small chunks.
    std::size_t nursery_chunk = 0;
    std::size_t removal_chunk = 0;
    bool remember_frames = false;
    /// Lives of each slot that are recorded, a power of two, and how many callers of each call.
    std::size_t record_lives = 0;
    std::uint32_t record_stack = 0;
    bool keep_order = false;
};

/// What the handle layout and the policy say about a geometry.
struct geometry_limits {
    std::uint64_t index_count = 0;
    std::size_t nursery_chunk = 0;
    std::size_t removal_chunk = 0;
    bool stable = false; ///< objects never move
};

/// The slots that each of `shards` shards may claim at once, but at least one. With a divisor of 128 all
/// shards together, however many there are, hold no more than an eighth of the capacity and one slot each:
/// the sum over shards is capacity / 128 x (1 + 1/2 + 1/3 + ...).
constexpr std::size_t claim_share(std::size_t capacity, std::size_t shards, std::size_t divisor) noexcept {
    return capacity / divisor / shards;
}

/// Shards of a pool that are no thread's: one for whoever has closed its gate, and one for each spawner.
constexpr std::size_t shards_before_threads(const pool_geometry& geometry) noexcept {
    return geometry.spawners == 0 ? 0 : geometry.spawners + 1;
}

/// Chunks of the nursery that a shard may sit on: one that is half used, one that is half drained, and one
/// whose constructors have thrown.
inline constexpr std::size_t nursery_chunks_of_shard = 3;

/// Chunks of the nursery whose memory goes back together.
inline constexpr std::size_t chunks_of_piece = 64;

/// The chunks of a nursery of so many that compaction may hold at a time, to give their memory back.
constexpr std::size_t chunks_to_hold(std::size_t chunks) noexcept {
    return chunks < 64 ? 1 : chunks / 32;
}

/// Checks the options and computes the sizes. Throws std::invalid_argument, which names the pool, the option,
/// its value and what is allowed.
HANDLEPOOL_EXPORT pool_geometry plan_geometry(const pool_options& options, const geometry_limits& limits);
/// Like plan_geometry(), but returns nothing instead of throwing, and leaves the message in `error`.
HANDLEPOOL_EXPORT std::optional<pool_geometry>
try_plan_geometry(const pool_options& options, const geometry_limits& limits, std::string& error);

} // namespace handlepool::detail

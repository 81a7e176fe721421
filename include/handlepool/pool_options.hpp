#pragma once

#include <handlepool/config.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

namespace handlepool {

/// Lets the pool choose an option's value; the option's comment says which it takes.
inline constexpr std::size_t automatic = std::numeric_limits<std::size_t>::max();

/// What a pool is made with. Only `capacity` has no useful default.
struct pool_options {
    /// Names the pool in messages and statistics.
    std::string name = "unnamed";

    /// Objects that the pool has room for, guaranteed: living ones and those erased since the last
    /// compaction. It may hold some more: the slots that idle threads have claimed and not used don't count
    /// against it.
    std::size_t capacity = 0;

    /// A slot is used again only after this many others were freed since. Automatic: 1024, or what
    /// `slot_limit` leaves.
    std::size_t reuse_delay = automatic;

    /// Slots that the pool may ever put in service, those retired since included. When all are retired, the
    /// pool is used up. Automatic: four times the capacity, and what `reuse_delay` and idle threads need.
    /// Less than that is kept to strictly, and then idle threads may hold slots that others lack at the very
    /// end.
    std::size_t slot_limit = automatic;

    /// Removals that one thread can queue between two compactions; more are not lost, but make the next
    /// compaction look through all objects. Automatic: no limit but the pool's size.
    std::size_t removal_queue_size = automatic;

    /// Threads of the process that may use pools, this one or others, at the same time: a thread has one
    /// number for all of them, the lowest that was free at its first use. Costs address space only.
    std::size_t max_threads = 4096;

    /// Remember for each slot in which frames its last object was born and died, so that describe() and
    /// reports can tell. Costs 16 bytes a slot, and a few nanoseconds for each object of a compaction.
    bool remember_frames = false;

    /// Where these options come from, a file for example; errors about them say so.
    std::string source = {};

    /// The id in the pool's handles. Left out: one that no living pool of the same layout has.
    std::optional<unsigned> pool_id = std::nullopt;
};

/// The sizes that follow from a pool's options, its handle layout and its batch sizes.
struct pool_geometry {
    std::size_t capacity = 0;
    std::size_t reuse_delay = 0;
    std::size_t slot_limit = 0;
    std::size_t removal_queue_size = 0;
    std::size_t max_threads = 0;
    /// Slots that idle lanes may hold without taking from the capacity.
    std::size_t lane_slack = 0;
    /// The most slots that are in service and not retired, and so the most objects at any time.
    std::size_t object_limit = 0;
    std::size_t nursery_chunks = 0;
    std::size_t removal_chunks = 0;
    bool remember_frames = false;
};

/// What the handle layout and the policy say about a geometry.
struct geometry_limits {
    std::uint64_t index_count = 0;
    std::size_t nursery_chunk = 0;
    std::size_t removal_chunk = 0;
};

/// A pool with this capacity lets one of `lanes` lanes claim so many slots at once that all lanes together,
/// however many there are, hold back no more than an eighth of the capacity and one slot each: with 128 in
/// the divisor, the sum over lanes is capacity / 128 x (1 + 1/2 + 1/3 + ...).
constexpr std::size_t claim_share(std::size_t capacity, std::size_t lanes,
                                  std::size_t divisor = 128) noexcept {
    return capacity / divisor / lanes;
}

/// Checks the options and computes the sizes. Throws std::invalid_argument, which names the pool, the option,
/// its value and what is allowed.
HANDLEPOOL_EXPORT pool_geometry plan_geometry(const pool_options& options, const geometry_limits& limits);
/// The same, but returns nothing instead of throwing, and leaves the message in `error`.
HANDLEPOOL_EXPORT std::optional<pool_geometry>
try_plan_geometry(const pool_options& options, const geometry_limits& limits, std::string& error);

} // namespace handlepool

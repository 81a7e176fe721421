// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/captures/allocator_state.hpp>
#include <handlepool/detail/snapshots/snapshot_reader.hpp>
#include <handlepool/detail/snapshots/snapshot_writer.hpp>
#include <handlepool/detail/time/number_list.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace handlepool::detail {

/// Whether a slot of this generation has an object.
constexpr bool lives(std::uint32_t generation) noexcept {
    return generation % 2 != 0;
}

/// A pool as a snapshot has it, but for what its objects contain: whatever decides which handles are valid,
/// and which ones come next. docs/snapshot_format.md has the bytes.
///
/// ```
///   slot           0  1  2  3  4  5         of which each is one of
///   generation     1  4  3  2  0  2
///                  │  │  │  │  │  └ returned, or claimed by a thread
///   objects     2 ─┼──┼──┘  │  └─── reserved
///               0 ─┘  │     └────── waiting, in the order in which they come
///                     └──────────── retired, if it is the last generation
/// ```
struct HANDLEPOOL_EXPORT saved_pool {
    std::uint32_t widths = 0;    // of the handles' layout, as widths_of_layout() has them
    std::uint32_t placement = 0; // 0 dense, 1 stable, 2 recycling
    std::uint32_t id = 0;
    std::uint32_t fresh_generation = 0; // of slots that no object has had
    std::uint64_t turn = 0;             // which shard comes first in a compaction with a budget

    number_list generations;             // of the slots in service
    number_list owners;                  // slots of the objects, by position
    number_list places;                  // of the objects, ascending; none in a dense pool
    std::vector<std::uint32_t> reserved; // slots, ascending
    std::vector<std::uint32_t> waiting;  // slots, in the order in which they come
    allocator_state allocator;           // of those that don't wait

    /// Lists that lie in the bytes of a snapshot have their own memory again, with anything in it.
    void forget_bytes() noexcept {
        for (number_list* const each : {&generations, &owners, &places}) {
            each->own();
        }
    }
};

/// "dense", "stable", "recycling" or "unknown".
HANDLEPOOL_EXPORT std::string_view name_of_placement(std::uint32_t placement) noexcept;

/// Returns whether a slot has an object of this generation.
inline bool lives_in(const saved_pool& pool, std::uint64_t slot, std::uint32_t generation) noexcept {
    return lives(generation) && slot < pool.generations.size() && pool.generations[slot] == generation;
}

/// What a pool can take. Nothing is any placement, or id.
struct pool_limits_of_snapshot {
    std::uint32_t widths = 0;
    std::optional<std::uint32_t> placement;
    std::optional<std::uint32_t> id;
    std::uint32_t last_id = 0;
    std::uint32_t last_generation = 0; // that of the last object of a slot
    std::uint64_t slot_limit = 0;
    std::uint64_t objects = 0;
    std::uint64_t places = 0; // of a pool that isn't dense
};

/// Bytes of the pool in its block, before the objects.
HANDLEPOOL_EXPORT std::uint64_t bytes_of(const saved_pool& pool) noexcept;
HANDLEPOOL_EXPORT void write(snapshot_writer& to, const saved_pool& pool);

/// How many objects a pool has whose block may be damaged. 0 if that can't be read.
HANDLEPOOL_EXPORT std::uint32_t objects_in(const snapshot_block& block) noexcept;

/// Reads a pool up to its objects, and verifies that it is one: each slot is in one place and has a
/// generation that fits there. Its lists lie in the payload or in those of `memory`, where these suffice.
/// Throws invalid_snapshot and std::bad_alloc.
HANDLEPOOL_EXPORT saved_pool read_saved_pool(block_reader& from, const pool_limits_of_snapshot& limits,
                                             saved_pool memory = {});

} // namespace handlepool::detail

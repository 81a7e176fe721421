// SPDX-License-Identifier: MIT
#include "../recorder/depots.hpp"

#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/detail/memory/pool_geometry.hpp>
#include <handlepool/detail/text/text.hpp>
#include <handlepool/detail/threads/thread_index.hpp>
#include <handlepool/error.hpp>

#include <algorithm>
#include <bit>
#include <stdexcept>

namespace handlepool::detail {

namespace {

// The upper half of the locations names no places.
constexpr std::size_t most_locations = raw(location::first_no_place);

constexpr std::size_t most_spawners = 4096;
constexpr std::size_t most_recorded_lives = 1024;
// A stack of 16 with the call itself.
constexpr std::size_t most_recorded_callers = 15;

std::string refusal(const pool_options& options, const char* option, std::size_t value,
                    const std::string& allowed) {
    std::string text = quoted_pool(options.name);
    text.append(": ").append(option).append(" = ").append(std::to_string(value));
    text.append(" is not allowed; ").append(allowed);
    if (!options.source.empty()) {
        text.append(" (limits from ").append(printable(options.source)).append(")");
    }
    return text;
}

std::string range(std::size_t first, std::size_t last) {
    return "allowed are " + std::to_string(first) + " to " + std::to_string(last);
}

} // namespace

pool_geometry plan_geometry(const pool_options& options, const geometry_limits& limits) {
    std::string error;
    const std::optional<pool_geometry> planned = try_plan_geometry(options, limits, error);
    if (!planned) {
        throw_exception(std::invalid_argument(error));
    }
    if (planned->record_lives != 0) {
        make_depots(); // here, where a lack of address space can be told
    }
    return *planned;
}

std::optional<pool_geometry> try_plan_geometry(const pool_options& options, const geometry_limits& limits,
                                               std::string& error) {
    const auto refuse = [&](const char* option, std::size_t value, const std::string& allowed) {
        error = refusal(options, option, value, allowed);
        return std::nullopt;
    };
    const std::size_t most =
        static_cast<std::size_t>(std::min<std::uint64_t>(limits.index_count, most_slots));

    if (options.max_threads < 1 || options.max_threads > thread_index_limit) {
        return refuse("max_threads", options.max_threads, range(1, thread_index_limit));
    }
    if (options.capacity < 1 || options.capacity > most) {
        return refuse("capacity", options.capacity, range(1, most) + " by the handle's layout");
    }
    const bool limited = options.slot_limit != pool_options::automatic;
    if (limited && (options.slot_limit < options.capacity || options.slot_limit > most)) {
        return refuse("slot_limit", options.slot_limit,
                      range(options.capacity, most) +
                          ", from the capacity up to what the handle's layout can name");
    }
    const std::size_t beside_capacity = (limited ? options.slot_limit : most) - options.capacity;
    if (options.reuse_delay != pool_options::automatic && options.reuse_delay > beside_capacity) {
        return refuse("reuse_delay", options.reuse_delay,
                      range(0, beside_capacity) + ", the slots that the pool may have beside its capacity");
    }
    if (options.removal_queue_size < 1) {
        return refuse("removal_queue_size", options.removal_queue_size, "allowed is 1 or more");
    }

    if (options.spawners > most_spawners) {
        return refuse("spawners", options.spawners, range(0, most_spawners));
    }
    if (options.record_lives > most_recorded_lives) {
        return refuse("record_lives", options.record_lives, range(0, most_recorded_lives));
    }
    if (options.record_stack > most_recorded_callers) {
        return refuse("record_stack", options.record_stack, range(0, most_recorded_callers));
    }
    if (options.record_stack != 0 && options.record_lives == 0) {
        return refuse("record_stack", options.record_stack, "it needs record_lives = 1 or more");
    }

    pool_geometry geometry;
    geometry.capacity = options.capacity;
    geometry.max_threads = options.max_threads;
    geometry.spawners = options.spawners;
    const std::size_t shards = options.max_threads + shards_before_threads(geometry);
    geometry.removal_queue_size = options.removal_queue_size;
    geometry.reuse_delay = options.reuse_delay != pool_options::automatic
                               ? options.reuse_delay
                               : std::min<std::size_t>(1024, beside_capacity);
    geometry.shard_slack = std::min(options.capacity / 8 + shards, beside_capacity - geometry.reuse_delay);
    geometry.object_limit = options.capacity + geometry.reuse_delay + geometry.shard_slack;
    geometry.slot_limit =
        limited ? options.slot_limit : std::min(most, 3 * options.capacity + geometry.object_limit);

    // Each shard may sit on a chunk that is half used and on one that is half drained.
    const auto chunks = [&](std::size_t chunk_size, std::size_t of_shard) {
        return (geometry.object_limit + chunk_size - 1) / chunk_size + of_shard * shards;
    };
    // Address space that each shard may touch the beginning of follows from the chunks: where few objects fit
    // into the pool, that is worth some more claims.
    const auto small_chunk = [&](std::size_t chunk_size) {
        return std::min(chunk_size, std::bit_ceil(options.capacity / 16 + 1));
    };
    geometry.nursery_chunk = limits.stable ? limits.nursery_chunk : small_chunk(limits.nursery_chunk);
    geometry.removal_chunk = small_chunk(limits.removal_chunk);
    geometry.nursery_chunks = chunks(geometry.nursery_chunk, nursery_chunks_of_shard);
    // For those that compaction holds: as many again as objects fill, for the groups that it takes over, half
    // of them, and that shards hold in advance; or for chunks whose memory it gives back, see
    // chunks_to_hold().
    geometry.nursery_chunks +=
        limits.stable ? chunks(geometry.nursery_chunk, 0) : geometry.nursery_chunks / 16 + 1;
    geometry.removal_chunks = chunks(geometry.removal_chunk, 2);
    geometry.remember_frames = options.remember_frames;
    geometry.record_lives = options.record_lives == 0 ? 0 : std::bit_ceil(options.record_lives);
    geometry.record_stack = static_cast<std::uint32_t>(options.record_stack);
    geometry.keep_order = options.keep_order;

    if (!limits.stable) {
        // The nursery begins with a piece, which is whole pages of objects of any size. A small one is less.
        const std::size_t piece = chunks_of_piece * geometry.nursery_chunk;
        const std::size_t over = geometry.object_limit % piece;
        geometry.dense_positions =
            geometry.object_limit + (over == 0 || geometry.object_limit < piece ? 0 : piece - over);
    }
    const std::size_t locations = geometry.dense_positions + geometry.nursery_chunks * geometry.nursery_chunk;
    if (locations > most_locations || geometry.removal_chunks * geometry.removal_chunk > most_locations) {
        return refuse("capacity", options.capacity,
                      "with max_threads = " + std::to_string(options.max_threads) + " it needs " +
                          std::to_string(locations) + " places, of " + std::to_string(most_locations) +
                          " that a slot can name");
    }
    return geometry;
}

} // namespace handlepool::detail

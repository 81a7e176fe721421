// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/snapshots/snapshot_reader.hpp>
#include <handlepool/detail/snapshots/snapshot_writer.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace handlepool::detail {

inline constexpr std::string_view frames_name = "frames";
inline constexpr std::uint32_t delta_version = 1; // of both kinds of blocks that only a delta has

/// From which frame to which one a delta leads.
struct delta_frames {
    std::uint64_t before = 0;
    std::uint64_t after = 0;
};

/// Throws std::bad_alloc.
inline void write(snapshot_writer& to, const delta_frames& frames) {
    to.begin_block(block_kind::frames, delta_version, frames_name, 2 * sizeof(std::uint64_t));
    to.number(frames.before);
    to.number(frames.after);
    to.end_block();
}

/// Throws invalid_snapshot.
void require_delta_version(const block_reader& from, const snapshot_block& block);

/// What a delta consists of. Throws invalid_snapshot and std::bad_alloc.
inline snapshot_blocks blocks_of_delta(std::span<const std::byte> bytes, std::string_view origin) {
    return {bytes, snapshot_source{.kind = "delta", .origin = origin}};
}

/// The frames of a delta. Throws invalid_snapshot and std::bad_alloc.
delta_frames read_frames(const snapshot_blocks& delta);

/// The same of one that is to follow this frame. Throws frame_gap, too.
delta_frames read_frames(const snapshot_blocks& delta, std::uint64_t follows);

} // namespace handlepool::detail

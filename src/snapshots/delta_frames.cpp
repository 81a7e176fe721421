// SPDX-License-Identifier: MIT
#include "delta_frames.hpp"

#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/snapshots/frame_gap.hpp>

#include <string>

namespace handlepool::detail {

delta_frames read_frames(const snapshot_blocks& delta) {
    const snapshot_block* const block = delta.find(frames_name);
    if (block == nullptr || block->kind != block_kind::frames) {
        throw_exception(
            invalid_snapshot(text_of(delta.source()) + ": this is no delta; a block 'frames' is expected"));
    }
    block_reader from(*block);
    require_delta_version(from, *block);
    const delta_frames frames{.before = from.number<std::uint64_t>(), .after = from.number<std::uint64_t>()};
    from.require_end();
    from.require_that(frames.before < frames.after, sizeof frames.after,
                      "the delta leads from frame " + std::to_string(frames.before) + " to frame " +
                          std::to_string(frames.after) + ", which does not come after it");
    return frames;
}

delta_frames read_frames(const snapshot_blocks& delta, std::uint64_t follows) {
    const delta_frames frames = read_frames(delta);
    if (frames.before != follows) {
        throw_exception(frame_gap(
            text_of(delta.source()) + " leads from frame " + std::to_string(frames.before) + " to frame " +
                std::to_string(frames.after) + "; one from frame " + std::to_string(follows) + " is expected",
            follows, frames.before));
    }
    return frames;
}

void require_delta_version(const block_reader& from, const snapshot_block& block) {
    from.require_that(block.version == delta_version, 0,
                      "the block has version " + std::to_string(block.version) + "; known is " +
                          std::to_string(delta_version));
}

} // namespace handlepool::detail

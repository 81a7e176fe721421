// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/snapshots/frame_gap.hpp>
#include <handlepool/snapshots/invalid_snapshot.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace handlepool {

/// Makes a snapshot of a later frame of one and the deltas of the frames since, which a delta_recorder has
/// written. It knows no types, so no pool is needed, nor the program: a tool can do it.
///
///     handlepool::replay past(snapshot, 0);
///     past.apply(first_delta);
///     past.apply(second_delta);
///     past.save(bytes);                        // what a save() gave then
///     game.load(bytes);
///
/// What a snapshot has and no delta tells of stays as it was saved. One thread at a time uses it.
class HANDLEPOOL_EXPORT replay {
public:
    /// Begins with the bytes of a snapshot, which was saved at the end of this frame. Linear in the bytes.
    /// Throws invalid_snapshot for bytes that are none, with `origin` in the message, such as the name of a
    /// file; and std::bad_alloc.
    replay(std::span<const std::byte> snapshot, std::uint64_t frame, std::string_view origin = "in memory");
    ~replay();
    replay(const replay&) = delete;
    replay& operator=(const replay&) = delete;

    /// Goes on to the frame of this delta. Linear in the delta. Throws frame_gap if it follows another frame
    /// than this one; invalid_snapshot for bytes that are no delta, or one that contradicts what there is;
    /// and std::bad_alloc. Then nothing has changed.
    void apply(std::span<const std::byte> delta, std::string_view origin = "in memory");

    /// The frame that it has reached.
    std::uint64_t frame() const noexcept { return frame_; }

    /// A hash of what the world consists of: names, kinds and versions of its parts, ids and placements of
    /// its pools and the types of their objects, and nothing of what these are. Where it is that of another
    /// world, deltas of that fit this one. Linear in the parts. Throws std::bad_alloc.
    std::uint64_t layout() const;

    /// Writes a snapshot of this frame in place of the bytes that `out` has: the same bytes as those of one
    /// that was saved then. Linear in these, but that the objects of a pool are sorted. Throws
    /// std::bad_alloc; then `out` is empty.
    void save(std::vector<std::byte>& out) const;

private:
    struct part;
    class step;

    std::vector<std::unique_ptr<part>> parts_;
    std::uint64_t frame_;
};

} // namespace handlepool

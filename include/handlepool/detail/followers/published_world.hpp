// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/followers/delta_queue.hpp>
#include <handlepool/detail/followers/frame_position.hpp>
#include <handlepool/snapshots/replay.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace handlepool::detail {

/// What has been published so far, of which followers that come late are sent a snapshot. It is made here,
/// by the thread that publishes, from deltas alone: no frame waits for it.
class HANDLEPOOL_EXPORT published_world {
public:
    /// Begins with a snapshot. Throws what replay does.
    published_world(std::span<const std::byte> snapshot, frame_position position);

    /// Goes on by a delta. Throws what replay::apply() does; then nothing has changed.
    void apply(const published_delta& delta);

    frame_position position() const noexcept { return {.frame = world_.frame(), .history = history_}; }

    /// The position behind a delta that was not applied yet.
    frame_position after(const published_delta& delta) const noexcept {
        return {.frame = delta.frame, .history = history_after(history_, delta.bytes)};
    }

    /// As replay::layout().
    std::uint64_t layout() const { return world_.layout(); }

    /// A snapshot of it. Linear. Throws std::bad_alloc.
    std::vector<std::byte> save() const;

private:
    replay world_;
    std::uint64_t history_;
};

} // namespace handlepool::detail

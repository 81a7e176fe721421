// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/snapshots/compare_snapshots.hpp>
#include <handlepool/snapshots/snapshot.hpp>
#include <handlepool/time/world.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace handlepool {

/// A frame that was not the same when it was played again.
struct rehearsal_difference {
    std::uint64_t frame = 0;            ///< the first frame that differs
    std::uint64_t taken_back_to = 0;    ///< the frame from which it was played again
    snapshot_differences differences{}; ///< between the first time and the second
};

/// A line for the frame, and one for each difference that was found. Throws std::bad_alloc.
HANDLEPOOL_EXPORT std::string to_string(const rehearsal_difference& difference);

/// Plays each frame several times, and says where the outcomes part: what depends on anything beside the
/// world, a clock, an address that a frame makes, a thread that was faster, or a state that was not added to
/// the world, is found in the frame in which it counts, and by its name.
///
/// ```
///   frame 1 ──▶ 2 ──▶ 3 ──▶ 4      played, and kept as bytes
///         ▲                 │
///         └──── restore ◀───┘      the world is taken back by so many frames
///         └──▶ 2 ──▶ 3 ──▶ 4       and played again: the same bytes?
/// ```
///
///     handlepool::rehearsal twice(past, present, 3); // a world, and a snapshot of the same pools and values
///     twice.begin(0);
///     for (std::uint64_t frame = 1; frame <= frames; ++frame) {
///         const auto difference = twice.play(frame, [&](std::uint64_t each) { simulate(each); });
///         if (difference) {
///             std::puts(to_string(*difference).c_str());
///         }
///     }
///
/// For tests, and while a mistake is looked for: a frame costs as many more frames as it is taken back, and a
/// save() for each. What it finds is found without another machine or another compiler; what only differs
/// between those or between two processes, such as the order of addresses that were there before, a
/// world_hash tells when they exchange it.
///
/// The world and the snapshot must exist as long as it is used. One thread at a time.
class HANDLEPOOL_EXPORT rehearsal {
public:
    /// Takes the world back by `frames` frames each time. Throws std::invalid_argument for 0 frames, and for
    /// more than one fewer than the world keeps.
    rehearsal(world& past, snapshot& present, std::size_t frames);

    /// The world as it is now is that of this frame, with which the first play() begins; what was kept is
    /// forgotten. Throws what world::capture() and snapshot::save() throw.
    void begin(std::uint64_t frame);

    /// Plays a frame by `play(frame)`, which ends with a compaction; then takes the world back, and plays the
    /// last frames again. Returns the first one that was not the same. Then the world is that of the last
    /// time, and goes on from there.
    ///
    /// Throws std::invalid_argument for a number that does not come after the one before, std::logic_error
    /// before begin(), what `play` throws, and what capturing, restoring and saving throw: then begin() comes
    /// first.
    std::optional<rehearsal_difference> play(std::uint64_t frame,
                                             const std::function<void(std::uint64_t)>& play);

    /// By how many frames the world is taken back.
    std::size_t frames() const noexcept { return frames_; }

private:
    struct kept_frame {
        std::uint64_t frame = 0;
        std::vector<std::byte> bytes{};
    };

    kept_frame keep(std::uint64_t frame);

    world& past_;
    snapshot& present_;
    std::size_t frames_;
    std::vector<kept_frame> kept_; // ascending
};

} // namespace handlepool

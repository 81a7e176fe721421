// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace handlepool {

/// What a frame did to a pool, as a change_log keeps it: how the store differs from what it was when the
/// frame before ended. A position is that of the dense store, or in stable pools the number of a place.
///
/// Each list is in ascending order of positions, so it follows from what happened, not from the threads that
/// did it or the order of their calls. `destroyed` and `moved` are in the order of the positions before.
///
/// What is in which list:
///
/// | operation | list |
/// | --- | --- |
/// | emplace, emplace_n, insert and their kin | `born` in the frame that takes the object into the store |
/// | fulfill | the same; a reserved handle itself is in no list, nor is a cancelled one |
/// | erase, erase_if, extract, drain, clear | `destroyed` in the frame that destroys the object |
/// | an object that ended before a record could tell of its birth | only counted, in `never_seen` |
/// | swap and pop, closing holes in order, sort, a part of a sort | `moved` |
/// | revoke | `renamed`, unless the object was born in the same frame: then its last handle is in `born` |
/// | clear | `destroyed`, and `cleared`, if no object of the frame before is left |
/// | reset | the same, and `reset` |
/// | edit, mark, mark_at, of whatever columns | `edited`, unless the object is in `born` or `destroyed` |
/// | a compaction with a budget | what it has got to; the rest is in the records of the next frames |
/// | exclusive access | all that happens under it is one frame, which ends with it, or with compact() |
///
/// @tparam Handle type of the pool's handles
template <class Handle>
struct frame_record {
    /// An object at a position.
    struct placed {
        /// Its handle, and where it was or is, as the list says.
        Handle handle;
        std::uint32_t position;

        /// Compare as a whole.
        friend bool operator==(const placed&, const placed&) = default;
    };
    /// One that has another position than before.
    struct moved_object {
        /// Its handle, and the positions before the frame and after it.
        Handle handle;
        std::uint32_t from;
        std::uint32_t to;

        /// Compare as a whole.
        friend bool operator==(const moved_object&, const moved_object&) = default;
    };
    /// One that has another handle than before.
    struct renamed_object {
        /// The handle before the frame and after it, and where the object is now.
        Handle before;
        Handle after;
        std::uint32_t position;

        /// Compare as a whole.
        friend bool operator==(const renamed_object&, const renamed_object&) = default;
    };

    /// The number of the frame: 1 for the first one after the log was attached.
    std::uint64_t frame = 0;
    /// Objects that came into the store, with the handles that they have now.
    std::vector<placed> born;
    /// Objects that were in the store and are no more, with the handles that they had and where they were.
    /// The values that they had are not here: see change_log::destroyed_entries().
    std::vector<placed> destroyed;
    /// Objects that are at another position than before the frame.
    std::vector<moved_object> moved;
    /// Objects that have another handle than before the frame.
    std::vector<renamed_object> renamed;
    /// Objects that were marked as edited, and where they are now.
    std::vector<placed> edited;
    /// Objects that ended and whose birth no record had told.
    std::size_t never_seen = 0;
    /// Objects that there are now, by the records: those that were born and not destroyed.
    std::size_t size = 0;
    bool cleared = false;   ///< there were objects, and none of them is left
    bool reset = false;     ///< reset() was called
    bool reordered = false; ///< a sort has moved objects, wherever they are now

    /// Whether the frame changed nothing.
    bool empty() const noexcept {
        return born.empty() && destroyed.empty() && moved.empty() && renamed.empty() && edited.empty() &&
               never_seen == 0 && !reset;
    }

    /// Compare as a whole.
    friend bool operator==(const frame_record&, const frame_record&) = default;
};

} // namespace handlepool

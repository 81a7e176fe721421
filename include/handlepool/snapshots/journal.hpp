// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

/// A journal has what each frame has changed, as bytes of the program, and goes on from a snapshot: both
/// together are the world at any of the frames. It is a file that only grows:
///
/// ```
///   header: world, frame of the snapshot │ frame 101 │ frame 102 │ frame 103 │ ...
///                                        └ parts with a name, and a hash that goes on from the one before
/// ```
namespace handlepool {

/// What a journal goes on from.
struct journal_origin {
    /// Tells worlds from each other: a random number, made when a world is. Journals of one world follow each
    /// other. It is a value in the snapshots, too, because a process can be killed when a snapshot is there
    /// and its journal is not.
    std::uint64_t world = 0;
    /// Of the snapshot. The first entry is that of the next frame.
    std::uint64_t frame = 0;

    /// Compare as a whole.
    friend bool operator==(const journal_origin&, const journal_origin&) = default;
};

/// A part of an entry, such as what a frame did to one pool.
struct journal_part {
    /// Unique in its entry, like that of a block in a snapshot: 1 to 255 bytes, no control characters.
    std::string_view name;
    std::span<const std::byte> bytes;
};

/// What follows the last entry that is whole and belongs there; usually nothing.
struct journal_tail {
    std::uint64_t offset = 0; ///< of its first byte
    std::uint64_t bytes = 0;  ///< that it has; 0: there is none
    std::string problem{};    ///< why that is not the next entry
    /// Entries in it that are whole. A process that is killed leaves none; a system that crashes can, where
    /// the disk had a later write and not an earlier one.
    std::uint64_t whole_entries = 0;
    std::uint64_t last_frame = 0; ///< of these
    /// One of these says that the disk had its first byte when that was written: so it was damaged later.
    bool was_synced = false;

    /// Compare as a whole.
    friend bool operator==(const journal_tail&, const journal_tail&) = default;
};

} // namespace handlepool

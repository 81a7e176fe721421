// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/snapshots/invalid_journal.hpp>
#include <handlepool/snapshots/invalid_snapshot.hpp>
#include <handlepool/snapshots/journal_writer.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

/// A world in a folder: a snapshot from time to time, and beside each the journal that goes on from it.
///
/// ```
///   00000000000000000100.snapshot    00000000000000000200.snapshot
///   00000000000000000100.journal     00000000000000000200.journal
///     frames 101 to 200                frames 201 to ...
/// ```
///
/// A program that goes on to the next ones ends a journal with the frame of the new snapshot, makes the
/// journal of that frame, and then writes the snapshot, perhaps in another thread meanwhile: until that is
/// there, the older snapshot and both journals are the world. In another order a process could find the new
/// snapshot and make its journal. When the snapshot is there, files of frames before it can be removed: see
/// remove_saved_before().
///
/// Of several processes that use a folder at the same time, one goes on, and the others have an error:
/// begin_saved_world(), where the folder has no world yet, and open_last_journal() see who was faster.
namespace handlepool {

/// The name of a snapshot in a folder, and that of its journal. Throw std::bad_alloc.
HANDLEPOOL_EXPORT std::filesystem::path snapshot_file_of(const std::filesystem::path& folder,
                                                         std::uint64_t frame);
HANDLEPOOL_EXPORT std::filesystem::path journal_file_of(const std::filesystem::path& folder,
                                                        std::uint64_t frame);

/// The frames of the snapshots in a folder, the earliest first; none is opened. Linear in the files of the
/// folder, but that the frames are sorted. Throws std::system_error, which names the folder, and
/// std::bad_alloc.
HANDLEPOOL_EXPORT std::vector<std::uint64_t> saved_frames(const std::filesystem::path& folder);

/// What a process goes on from.
struct saved_world {
    std::filesystem::path folder{};    ///< where it is
    std::uint64_t frame = 0;           ///< of the snapshot
    std::vector<std::byte> snapshot{}; ///< for snapshot::load()
    /// The journals to read, one after the other. The last one is that of open_last_journal().
    std::vector<std::filesystem::path> journals{};
    std::uint64_t last_frame = 0; ///< that they have
    /// What is in the folder, is newer and can't be used, with the reason.
    std::vector<std::string> passed_over{};
};

/// Finds the newest snapshot of a folder that is whole, and the journals that go on from it: more than one if
/// later snapshots are damaged. Nothing if there is no snapshot. Reads all of these files, and again if
/// another process removes some meanwhile; pools and values in the snapshot are looked at by snapshot::load()
/// only. Throws invalid_snapshot if no snapshot is whole, invalid_journal if a journal is damaged, or of
/// another world than the one before; std::system_error and std::bad_alloc.
HANDLEPOOL_EXPORT std::optional<saved_world> find_saved_world(const std::filesystem::path& folder);

/// Opens the last journal of a world that was found, for writing; makes it where there is none. As long as it
/// is open, nobody else goes on with that world. Throws what journal_writer::open() and create() throw:
/// std::system_error also if another process has gone on since the world was found. And std::invalid_argument
/// if the journal is of another world than this number says. If it had made the journal, it removes that
/// again, where the disk still can.
HANDLEPOOL_EXPORT journal_writer open_last_journal(const saved_world& found, std::uint64_t world,
                                                   const journal_options& options = {});

/// Begins a world in a folder that has none: makes the journal that goes on from its first snapshot, and
/// writes that. Waits for the disk. Linear in the snapshot, and in the files of the folder. Throws what
/// write_snapshot_file() and journal_writer::create() throw: std::system_error also if the folder has a
/// snapshot already, or a journal, whose snapshot is lost; if another process is beginning; or if there is no
/// such folder, which it names then. A journal without entries that nobody has open is no hindrance, and may
/// go or be left where this throws; all else that was there stays as it was. A process that is killed, a
/// system that crashes, a disk that removes no file any more, and a file system without locks may leave such
/// a journal, and unfinished files (`.journal.new`, `.part`), which nobody reads.
HANDLEPOOL_EXPORT journal_writer begin_saved_world(const std::filesystem::path& folder, std::uint64_t frame,
                                                   std::span<const std::byte> snapshot, std::uint64_t world,
                                                   const journal_options& options = {});

/// Removes the snapshots and journals of frames before this one, also what processes that were killed have
/// left of such unfinished, and returns how many files. Whoever wants an older snapshot in reserve gives the
/// frame of that. Any thread may call it, also while newer ones are written. Linear in the files of the
/// folder. On Windows it ends at a file that another process is reading, and the next call goes on. Throws
/// std::system_error, which names the file: if the folder has no snapshot of this frame, then nothing is
/// removed; if one can't be removed, then some may be. And std::bad_alloc.
HANDLEPOOL_EXPORT std::size_t remove_saved_before(const std::filesystem::path& folder, std::uint64_t frame);

} // namespace handlepool

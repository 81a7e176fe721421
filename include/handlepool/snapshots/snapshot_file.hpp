// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>

#include <cstddef>
#include <filesystem>
#include <span>
#include <vector>

/// Snapshots as files. All functions may be called by any thread at any time, also for the same file: readers
/// see one of the snapshots that were written, whole.
namespace handlepool {

/// How a snapshot is written to a file.
struct snapshot_file_options {
    /// Wait until the disk has the file, so that it outlives a crash of the system, too. Else the system
    /// writes it when it likes.
    bool sync = true;
    /// Take the place of a former file. Else there must be none: of several processes that write the same
    /// file at the same time, one succeeds. Needs a file system that has hard links, as most have but FAT;
    /// on others it is always an error.
    bool replace = true;
};

/// Writes a snapshot to a file, in place of a former one: under a name of its own beside it first, which then
/// becomes the file's. Links are followed, and the permissions of a former file stay. A pipe or a device is
/// written to as it is, and not waited for. Linear.
///
/// Throws std::system_error, which names the file, such as std::errc::file_exists where none is to be
/// replaced, and std::bad_alloc. Then a former file is as it was, and nothing new is left; but for an error
/// of the disk that comes with the new name: then the file is the new one, and may be lost when the system
/// crashes.
HANDLEPOOL_EXPORT void write_snapshot_file(const std::filesystem::path& file,
                                           std::span<const std::byte> snapshot,
                                           snapshot_file_options options = {});

/// Returns all bytes of a file, of which nothing is checked. Linear. Throws std::system_error, which names
/// the file, and std::bad_alloc.
HANDLEPOOL_EXPORT std::vector<std::byte> read_snapshot_file(const std::filesystem::path& file);

} // namespace handlepool

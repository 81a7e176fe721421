// SPDX-License-Identifier: MIT
#include "../shared/files.hpp"

#include <handlepool/snapshots/snapshot_file.hpp>

#include <cstdint>
#include <ostream>
#include <system_error>

namespace handlepool {

void write_snapshot_file(const std::filesystem::path& file, std::span<const std::byte> snapshot,
                         snapshot_file_options options) {
    const auto write = [snapshot](std::ostream& out) {
        out.write(reinterpret_cast<const char*>(snapshot.data()),
                  static_cast<std::streamsize>(snapshot.size()));
    };
    throw_file_error(write_file(file, write, options.sync ? disk_wait::until_written : disk_wait::none,
                                options.replace ? former_file::is_replaced : former_file::stays),
                     file);
}

std::vector<std::byte> read_snapshot_file(const std::filesystem::path& file) {
    std::vector<std::byte> bytes;
    // Only saves time: a pipe has no size, and a file that others write to may have another one soon.
    std::error_code ignored;
    if (std::filesystem::is_regular_file(file, ignored)) {
        const std::uintmax_t size = std::filesystem::file_size(file, ignored);
        bytes.reserve(ignored ? 0 : static_cast<std::size_t>(size));
    }
    const auto error = read_parts(file, [&bytes](std::span<const char> part) {
        const auto read = std::as_bytes(part);
        bytes.insert(bytes.end(), read.begin(), read.end());
    });
    throw_file_error(error, file);
    return bytes;
}

} // namespace handlepool

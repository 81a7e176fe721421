// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/snapshots/journal_storage.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <system_error>

// What a journal's storage does in pieces, and where it is interrupted again, until all of it is done.
namespace handlepool::detail {

/// Returns why not all of it could be written, or nothing.
inline std::error_code write_all(journal_storage& storage, std::uint64_t offset,
                                 std::span<const std::byte> bytes) noexcept {
    while (!bytes.empty()) {
        std::error_code error;
        const std::size_t written = storage.write(offset, bytes, error);
        if (error && error != std::errc::interrupted) {
            return error;
        }
        if (written == 0 && !error) {
            return std::make_error_code(std::errc::io_error);
        }
        offset += written;
        bytes = bytes.subspan(written);
    }
    return {};
}

/// Returns why the disk may lack something, or nothing.
inline std::error_code wait_for_disk(journal_storage& storage) noexcept {
    std::error_code error;
    do {
        storage.sync(error);
    } while (error == std::errc::interrupted);
    return error;
}

/// Cuts off what is behind that size, for good: else it could come back behind what is appended.
inline std::error_code cut_off(journal_storage& storage, std::uint64_t size) noexcept {
    std::error_code error;
    storage.truncate(size, error);
    return error ? error : wait_for_disk(storage);
}

} // namespace handlepool::detail

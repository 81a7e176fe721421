// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/snapshots/content_hash.hpp>
#include <handlepool/detail/time/little_endian.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

// What the writer and the reader agree on; see docs/journal_format.md.
namespace handlepool::detail {

inline constexpr std::string_view journal_mark = "hp journ";
inline constexpr std::uint32_t journal_format = 1;
inline constexpr std::size_t journal_header_hashed = 8 + 4 + 4 + 8 + 8;
inline constexpr std::size_t journal_header_bytes = journal_header_hashed + 8;

inline constexpr std::string_view entry_mark = "hp frame";
inline constexpr std::size_t entry_size_at = 8;
inline constexpr std::size_t entry_frame_at = 16;
inline constexpr std::size_t entry_previous_at = 24;
inline constexpr std::size_t entry_synced_at = 32;
inline constexpr std::size_t entry_parts_at = 40;
inline constexpr std::size_t entry_zero_at = 44;
inline constexpr std::size_t entry_header_hashed = 48;
inline constexpr std::size_t entry_header_bytes = entry_header_hashed + 8;
inline constexpr std::size_t entry_hash_bytes = 8;
inline constexpr std::size_t least_entry_bytes = entry_header_bytes + entry_hash_bytes;
inline constexpr std::size_t part_header_bytes = 8 + 4 + 4;

/// The hash of an entry's header, which depends on the journal's: entries of others are none.
inline std::uint64_t hash_of_entry_header(std::uint64_t journal_hash,
                                          std::span<const std::byte, entry_header_hashed> header) noexcept {
    std::array<std::byte, 8 + entry_header_hashed> bytes{};
    const auto end = std::ranges::copy(to_little_endian(journal_hash), bytes.begin()).out;
    std::ranges::copy(header, end);
    return content_hash_of(bytes);
}

} // namespace handlepool::detail

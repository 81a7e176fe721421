// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/snapshots/content_hash.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

// What the writer and the reader agree on; see docs/snapshot_format.md.
namespace handlepool::detail {

inline constexpr std::string_view snapshot_mark = "hp world";
inline constexpr std::uint32_t snapshot_format = 1;
inline constexpr std::size_t file_header_bytes = 8 + 4 + 4;
inline constexpr std::size_t name_size_at = 8 + 4 + 4; // in a block's header
inline constexpr std::size_t block_header_hashed = name_size_at + 4 + 4;
inline constexpr std::size_t hash_bytes = 8;
inline constexpr std::size_t block_header_bytes = block_header_hashed + hash_bytes;
inline constexpr std::size_t most_name_bytes = 255;
inline constexpr std::string_view end_name = "end";
inline constexpr std::uint32_t end_version = 1;
inline constexpr std::size_t end_bytes = 8;

/// So many zeros come behind a name or a payload.
constexpr std::size_t padding_of(std::uint64_t size) noexcept {
    return static_cast<std::size_t>(-size % 8);
}

/// The hash of a block's header: of what comes before it, and of the name.
inline std::uint64_t hash_of_header(std::span<const std::byte, block_header_hashed> header,
                                    std::string_view name) noexcept {
    std::array<std::byte, block_header_hashed + most_name_bytes> bytes{};
    const auto end = std::ranges::copy(header, bytes.begin()).out;
    std::ranges::copy(std::as_bytes(std::span(name)), end);
    return content_hash_of(std::span(bytes).first(header.size() + name.size()));
}

/// What is wrong with a name, or nothing. Throws std::bad_alloc.
inline std::optional<std::string> problem_of_name(std::string_view name) {
    if (name.empty() || name.size() > most_name_bytes) {
        return "the name has " + std::to_string(name.size()) + " bytes; 1 to 255 are allowed";
    }
    const auto control = std::ranges::find_if(name, [](char each) {
        const auto byte = static_cast<unsigned char>(each);
        return byte < 0x20 || byte == 0x7f;
    });
    if (control != name.end()) {
        return "the name has the control character " + std::to_string(static_cast<unsigned char>(*control)) +
               " at byte " + std::to_string(control - name.begin()) + "; none is allowed";
    }
    return std::nullopt;
}

} // namespace handlepool::detail

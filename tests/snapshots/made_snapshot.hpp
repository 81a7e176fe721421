// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/snapshots/content_hash.hpp>
#include <handlepool/detail/snapshots/snapshot_writer.hpp>
#include <handlepool/detail/time/little_endian.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

// Snapshots, also such as no writer would write.
namespace handlepool::test {

using snapshot_bytes = std::vector<std::byte>;

/// Two blocks: "ships" with 5 bytes, and "a day" with none.
inline snapshot_bytes two_blocks(detail::payload_hashes hashes = detail::payload_hashes::at_once) {
    snapshot_bytes bytes;
    detail::snapshot_writer to(bytes, detail::former_bytes::stay, hashes);
    to.begin_block(detail::block_kind::pool, 3, "ships", 5);
    to.number(std::uint32_t{0x04030201});
    to.number(std::uint8_t{5});
    to.end_block();
    to.begin_block(detail::block_kind::value, 2, "a day", 0);
    to.end_block();
    to.finish();
    return bytes;
}

/// Where the parts of two_blocks() are.
inline constexpr std::size_t ships_at = 16;
inline constexpr std::size_t ships_name_at = ships_at + 32;
inline constexpr std::size_t ships_payload_at = ships_name_at + 8;
inline constexpr std::size_t ships_hash_at = ships_payload_at + 8;
inline constexpr std::size_t day_at = ships_hash_at + 8;
inline constexpr std::size_t day_name_at = day_at + 32;
inline constexpr std::size_t day_hash_at = day_name_at + 8;
inline constexpr std::size_t end_at = day_hash_at + 8;
inline constexpr std::size_t end_name_at = end_at + 32;
inline constexpr std::size_t end_payload_at = end_name_at + 8;
inline constexpr std::size_t end_hash_at = end_payload_at + 8;
inline constexpr std::size_t two_blocks_bytes = end_hash_at + 8;

template <std::unsigned_integral Number>
void put(snapshot_bytes& bytes, std::size_t at, Number number) {
    const auto written = detail::to_little_endian(number);
    std::ranges::copy(written, bytes.begin() + static_cast<std::ptrdiff_t>(at));
}

inline void put_hash(snapshot_bytes& bytes, std::size_t at, std::span<const std::byte> hashed) {
    put(bytes, at, detail::content_hash_of(hashed));
}

/// Makes the hash that of a block's header, whose name has that size.
inline void seal_header(snapshot_bytes& bytes, std::size_t header, std::size_t name_size) {
    const std::span<const std::byte> all(bytes);
    snapshot_bytes hashed(all.begin() + static_cast<std::ptrdiff_t>(header),
                          all.begin() + static_cast<std::ptrdiff_t>(header + 24));
    const auto name = all.subspan(header + 32, name_size);
    hashed.insert(hashed.end(), name.begin(), name.end());
    put_hash(bytes, header + 24, hashed);
}

} // namespace handlepool::test

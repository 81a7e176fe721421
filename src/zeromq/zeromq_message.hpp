// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

// What publishers and followers send each other; see docs/zeromq_format.md.
namespace handlepool::detail {

inline constexpr std::string_view zeromq_mark = "hp frame";
inline constexpr std::uint32_t zeromq_format = 1;
inline constexpr std::size_t zeromq_header_size = 48;

enum class zeromq_kind : std::uint32_t {
    request = 1, ///< for a snapshot, by a follower
    snapshot = 2,
    delta = 3,
    position = 4 ///< where the publisher is
};

struct zeromq_header {
    zeromq_kind kind = zeromq_kind::request;
    std::uint64_t origin = 0; ///< the history with which the publisher began
    std::uint64_t before = 0; ///< the frame that a delta follows; else the same as the next
    std::uint64_t frame = 0;
    std::uint64_t history = 0; ///< of that frame
};

struct zeromq_message {
    zeromq_header header;
    std::span<const std::byte> payload;
};

HANDLEPOOL_EXPORT std::array<std::byte, zeromq_header_size> bytes_of(const zeromq_header& header) noexcept;

/// Bytes from anybody. If they are no message of these kinds, nothing, and `problem` says why. Throws
/// std::bad_alloc.
HANDLEPOOL_EXPORT std::optional<zeromq_message> read_zeromq_message(std::span<const std::byte> bytes,
                                                                    std::initializer_list<zeromq_kind> kinds,
                                                                    std::string& problem);

} // namespace handlepool::detail

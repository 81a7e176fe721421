// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace handlepool::detail {

/// A frame, and the hash of all that led to it: of two worlds that have the same position, neither has
/// received a delta that the other has not.
struct frame_position {
    std::uint64_t frame = 0;
    std::uint64_t history = 0;

    friend bool operator==(const frame_position&, const frame_position&) = default;
};

/// A history that no other world begins with. Throws what std::random_device does.
HANDLEPOOL_EXPORT std::uint64_t new_history();

/// The history behind a delta.
HANDLEPOOL_EXPORT std::uint64_t history_after(std::uint64_t history,
                                              std::span<const std::byte> delta) noexcept;

} // namespace handlepool::detail

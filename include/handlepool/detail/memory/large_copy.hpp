// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>

#include <cstddef>
#include <span>

namespace handlepool::detail {

/// So many bytes are not kept by the caches anyway: who copies as many, at once or in pieces, writes past
/// them.
inline constexpr std::size_t too_much_for_caches = std::size_t{8} << 20;

/// Copies bytes to memory that doesn't overlap theirs, past the caches where the processor can: else each
/// line that is written would be read before.
HANDLEPOOL_EXPORT void copy_past_caches(std::byte* to, std::span<const std::byte> from) noexcept;

/// Copies bytes to memory that doesn't overlap theirs, in whichever way is faster for so many.
HANDLEPOOL_EXPORT void large_copy(std::byte* to, std::span<const std::byte> from) noexcept;

} // namespace handlepool::detail

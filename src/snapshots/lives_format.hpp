// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

// What the writer and the reader of lives agree on; see docs/delta_format.md.
namespace handlepool::detail {

inline constexpr std::uint64_t told_event_bytes = 5 * sizeof(std::uint32_t);
inline constexpr std::uint64_t told_life_bytes = sizeof(std::uint64_t) + 2 * told_event_bytes;

} // namespace handlepool::detail

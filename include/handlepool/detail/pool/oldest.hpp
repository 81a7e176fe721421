// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace handlepool::detail {

/// A living object's handle, and what its age is judged by.
struct aged_handle {
    std::uint32_t frames; // since its birth, as far as that is remembered
    std::uint32_t generation;
    std::uint64_t index;
    std::uint64_t handle;
};

/// Keeps `most` at the most, the oldest first: by frames, then by generation, then by slot.
HANDLEPOOL_EXPORT void keep_oldest(std::vector<aged_handle>& handles, std::size_t most) noexcept;

} // namespace handlepool::detail

// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>

namespace handlepool_bench {

/// What all containers hold: 64 bytes, written in full. Aligned, so that none straddles two cache lines in
/// one container and not in another.
struct alignas(64) object {
    object() = default;
    explicit object(std::uint64_t seed)
        : words{seed, seed + 1, seed + 2, seed + 3, seed + 4, seed + 5, seed + 6, seed + 7} {}

    std::array<std::uint64_t, 8> words{};
};

static_assert(sizeof(object) == 64);

} // namespace handlepool_bench

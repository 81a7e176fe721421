// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/recorder/caller.hpp>

#include <cstdint>

namespace handlepool::detail {

/// How a life began or ended.
enum class life_event : std::uint8_t {
    none,
    created,
    loaded,  ///< by a snapshot, or to be like another process's object
    renamed, ///< a revoke gave the object this handle
    erased,
    cleared,
    extracted,
    drained,
    revoked,
    undone, ///< by a restore
    cancelled,
    forgotten, ///< by a reset
};

/// The beginning or the end of a life.
struct life_record {
    static constexpr unsigned frame_bits = 28;
    static constexpr std::uint32_t frame_mask = (std::uint32_t{1} << frame_bits) - 1;

    std::uint32_t generation = 0;
    life_event event = life_event::none;
    std::uint32_t frame = 0; ///< modulo 2^28
    caller who = caller::unknown;

    /// All but who it was.
    constexpr std::uint64_t stamp() const noexcept {
        return std::uint64_t{generation} << 32 |
               std::uint64_t{static_cast<std::uint8_t>(event)} << frame_bits | (frame & frame_mask);
    }
    static constexpr life_record of(std::uint64_t stamp, caller who) noexcept {
        return {.generation = static_cast<std::uint32_t>(stamp >> 32),
                .event = static_cast<life_event>(stamp >> frame_bits & 15),
                .frame = static_cast<std::uint32_t>(stamp) & frame_mask,
                .who = who};
    }
};

} // namespace handlepool::detail

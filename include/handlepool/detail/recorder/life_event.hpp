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
    static constexpr unsigned frame_bits = 27;
    static constexpr std::uint32_t frame_mask = (std::uint32_t{1} << frame_bits) - 1;
    static constexpr std::uint32_t undone_bit = 16; // above the event

    std::uint32_t generation = 0;
    life_event event = life_event::none;
    std::uint32_t frame = 0; ///< modulo 2^27
    caller who = caller::unknown;
    bool is_undone = false; ///< a restore has taken it back

    /// All but who it was.
    constexpr std::uint64_t stamp() const noexcept {
        const std::uint64_t how = static_cast<std::uint8_t>(event) | (is_undone ? undone_bit : 0U);
        return std::uint64_t{generation} << 32 | how << frame_bits | (frame & frame_mask);
    }
    static constexpr life_record of(std::uint64_t stamp, caller who) noexcept {
        return {.generation = static_cast<std::uint32_t>(stamp >> 32),
                .event = static_cast<life_event>(stamp >> frame_bits & (undone_bit - 1)),
                .frame = static_cast<std::uint32_t>(stamp) & frame_mask,
                .who = who,
                .is_undone = (stamp >> frame_bits & undone_bit) != 0};
    }
};

} // namespace handlepool::detail

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

/// The beginning or the end of a life. It is kept as two words: who it was, and all else, mixed with that as
/// in Hyatt and Mann's lockless transposition table (2002). So halves of two records don't pass for one:
/// what comes out is no generation that anybody asks for.
struct life_record {
    static constexpr unsigned frame_bits = 27;
    static constexpr std::uint32_t frame_mask = (std::uint32_t{1} << frame_bits) - 1;

    /// Frames that have ended since, in the recorder's frame `now`.
    std::uint32_t frames_until(std::uint32_t now) const noexcept { return (now - frame) & frame_mask; }
    static constexpr std::uint32_t undone_bit = 16; // above the event

    std::uint32_t generation = 0;
    life_event event = life_event::none;
    std::uint32_t frame = 0; ///< modulo 2^27
    caller who = caller::unknown;
    bool is_undone = false; ///< a restore has taken it back

    /// The second word.
    constexpr std::uint64_t stamp() const noexcept {
        const std::uint64_t how = static_cast<std::uint8_t>(event) | (is_undone ? undone_bit : 0U);
        return (std::uint64_t{generation} << 32 | how << frame_bits | (frame & frame_mask)) ^
               mixed(static_cast<std::uint64_t>(who));
    }
    /// What two words say; of some other generation if they don't belong together.
    static constexpr life_record of(std::uint64_t who, std::uint64_t stamp) noexcept {
        const std::uint64_t rest = stamp ^ mixed(who);
        return {.generation = static_cast<std::uint32_t>(rest >> 32),
                .event = static_cast<life_event>(rest >> frame_bits & (undone_bit - 1)),
                .frame = static_cast<std::uint32_t>(rest) & frame_mask,
                .who = caller{who},
                .is_undone = (rest >> frame_bits & undone_bit) != 0};
    }

private:
    static constexpr std::uint64_t mixed(std::uint64_t word) noexcept {
        const std::uint64_t product = word * 0x9e37'79b9'7f4a'7c15;
        return product ^ product >> 32;
    }
};

} // namespace handlepool::detail

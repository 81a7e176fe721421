// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/recorded_life.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace handlepool::detail {

/// The knowledge of a pool about a handle.
struct handle_report {
    bool null = false;
    bool fits_layout = true; ///< are the bits zero that the layout leaves out?
    bool reserved = false;   ///< has it no object yet?
    bool cancelled = false;  ///< was it reserved, and the slot was not used again since?
    std::uint64_t index = 0;
    std::uint32_t generation = 0;
    std::uint32_t pool_id = 0;
    // Of the pool, and of the slot that the index names.
    std::uint32_t own_pool_id = 0;
    std::uint32_t first_generation = 0;
    std::uint64_t slots_in_service = 0;
    std::uint32_t slot_generation = 0;
    // How many frames ago the slot's last object was taken into the dense store, and destroyed; if
    // remembered.
    std::optional<std::uint32_t> frames_since_birth = std::nullopt;
    std::optional<std::uint32_t> frames_since_death = std::nullopt;
    // If recorded: the handle's life, and the pool's last reset.
    recorded_life life = {};
    std::uint32_t lives_kept = 0; ///< of each slot; 0 if none are recorded
    std::optional<recorded_event> last_reset = std::nullopt;
};

/// "pool 'ships': handle #1021 generation 7 pool 3 is stale: erased, ..."
HANDLEPOOL_EXPORT std::string describe_refusal(std::string_view pool, const handle_report& handle);

/// Why the handle can't be fulfilled: "pool 'ships': handle #1021 generation 7 pool 3 is not reserved: ..."
HANDLEPOOL_EXPORT std::string describe_unreserved(std::string_view pool, bool alive,
                                                  const handle_report& handle);

/// "ships #1021 generation 7: erased 3 frames ago"
HANDLEPOOL_EXPORT std::string describe_handle(std::string_view pool, bool alive, const handle_report& handle);

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

// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace handlepool::coherence {

/// What an access is made for.
enum class operation : std::uint8_t { other, emplace, erase, find, compact };

inline constexpr std::array<std::string_view, 5> operation_names{"other", "emplace", "erase", "find",
                                                                 "compact"};

/// Sums of what caches did.
struct tally {
    std::uint64_t accesses = 0;
    std::uint64_t transfers = 0;     ///< lines that came from another cache
    std::uint64_t false_sharing = 0; ///< of those, the ones that false sharing caused
    std::uint64_t upgrades = 0;      ///< shared lines that were made a writer's own
    std::uint64_t invalidations = 0; ///< copies that caches lost
    std::uint64_t memory = 0;        ///< lines that no cache had

    tally& operator+=(const tally& more) noexcept {
        accesses += more.accesses;
        transfers += more.transfers;
        false_sharing += more.false_sharing;
        upgrades += more.upgrades;
        invalidations += more.invalidations;
        memory += more.memory;
        return *this;
    }
    friend bool operator==(const tally&, const tally&) = default;
};

} // namespace handlepool::coherence

// SPDX-License-Identifier: MIT
#pragma once

#include "require.hpp"

#include <handlepool/snapshots/compare_snapshots.hpp>

#include <cstddef>
#include <span>
#include <string_view>

namespace handlepool::fuzz {

/// A snapshot and what is perhaps none: that is refused, or what differs is told.
inline void compare(std::span<const std::byte> right, std::span<const std::byte> fuzzed) {
    try {
        for (const snapshot_difference& each :
             compare_snapshots(right, fuzzed, {.most = 5, .first = "right", .second = "fuzzed"}).found) {
            require(each.first != each.second, "what is told differs");
        }
    } catch (const invalid_snapshot& error) {
        require(std::string_view(error.what()).starts_with("snapshot 'fuzzed', byte "), "a reason is given");
    }
}

} // namespace handlepool::fuzz

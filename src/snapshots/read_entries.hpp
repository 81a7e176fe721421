// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/snapshots/block_kind.hpp>
#include <handlepool/detail/snapshots/snapshot_entry.hpp>
#include <handlepool/detail/snapshots/snapshot_reader.hpp>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

// What the entries of a snapshot and those of a replica read.
namespace handlepool::detail {

inline std::string text_of(block_kind kind) {
    constexpr std::string_view names[] = {"an end", "a pool",         "a container",   "a value",
                                          "frames", "a pool's delta", "recorded lives"};
    const auto number = static_cast<std::size_t>(kind);
    return number < std::size(names) ? std::string(names[number]) : "of kind " + std::to_string(number);
}

/// Reads a block that is of this kind and version. Throws invalid_snapshot.
inline block_reader reader_of(const snapshot_block& block, block_kind kind, std::uint32_t version) {
    const block_reader from(block);
    from.require_that(block.kind == kind, 0,
                      "the block is " + text_of(block.kind) + "; here it is " + text_of(kind));
    from.require_that(block.version == version, 0,
                      "the block has version " + std::to_string(block.version) + "; known is " +
                          std::to_string(version));
    return from;
}

/// What all of them have read must fit together. Throws invalid_snapshot and std::bad_alloc.
template <class Entries>
void require_fit(const Entries& entries) {
    std::vector<const future_objects*> pools;
    for (const auto& each : entries) {
        if (const future_objects* const pool = each->future()) {
            pools.push_back(pool);
        }
    }
    for (const auto& each : entries) {
        each->require_fit(pools);
    }
}

} // namespace handlepool::detail

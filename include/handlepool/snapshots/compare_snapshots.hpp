// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/snapshots/invalid_snapshot.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace handlepool {

/// One thing that two snapshots have in different ways, in words for people.
struct snapshot_difference {
    std::string part{};   ///< the name of the pool, container or value
    std::string object{}; ///< whose it is, as "#81 generation 5"; empty: the part's as a whole
    /// What differs: a member by its name in the layout, as ".hull", or else "bytes 8 to 11"; of rows with
    /// the column before it; "object", "parent", "slots that wait, number 3"...
    std::string what{};
    std::string first{};  ///< how the first snapshot has it
    std::string second{}; ///< and how the second one does

    /// Whether all texts are the same.
    friend bool operator==(const snapshot_difference&, const snapshot_difference&) = default;
};

/// "ships #81 generation 5, .hull: 70 / 60". Throws std::bad_alloc.
HANDLEPOOL_EXPORT std::string to_string(const snapshot_difference& difference);

/// What was found by a comparison.
struct snapshot_differences {
    std::vector<snapshot_difference> found{}; ///< part by part, in the order of the first snapshot
    std::uint64_t left_out = 0;               ///< how many more there are
};

/// How snapshots are compared.
struct comparison_options {
    std::size_t most = 20;              ///< differences to tell of each part
    std::string_view first = "first";   ///< what messages of invalid snapshots call the one,
    std::string_view second = "second"; ///< and the other
};

/// Says in what two snapshots differ, so that who has two worlds that should be the same sees where they
/// part.
///
/// ```
///   first    ships   #3   #81   #7            ships #81 generation 5, .hull: 70 / 60
///                          │                  ships, objects: 3 / 4
///   second   ships   #3   #81   #7   #90      ships #90 generation 1, object: is not there / is there
/// ```
///
/// Objects and members are compared by their handles, and then their order, and the slots, which decide what
/// the next handles are. It knows no types: members are named if the type has a `snapshot_layout` that is a
/// list of names and numbers, as "x:f32 y:f32 hull:i32", and padding between them is not compared; else it
/// tells which bytes differ. Snapshots without a difference are the same world: whatever is created next gets
/// the same handle. What their files have beside, such as the order of the blocks, is not compared.
///
/// Any thread may call it at any time. Linear in the bytes, but for the names of the parts, which are sorted.
/// Throws invalid_snapshot, and std::bad_alloc.
HANDLEPOOL_EXPORT snapshot_differences compare_snapshots(std::span<const std::byte> first,
                                                         std::span<const std::byte> second,
                                                         const comparison_options& options = {});

} // namespace handlepool

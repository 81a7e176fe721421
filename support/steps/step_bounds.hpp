// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

/// How many accesses to atomics an operation may make while another thread is stopped for ever, wherever that
/// is.
namespace handlepool::support {

enum class stepped_operation : std::uint8_t {
    emplace,
    erase,
    contains,
    find,
    guard,
    size,
    compact,
    try_compact
};

struct step_bound {
    std::string_view operation;
    std::size_t accesses; ///< in pools of up to 40 objects and 8 shards, with batches of one to four
    std::size_t in_model; ///< in the model checker's pools; 0: not bounded there
};

/// Batches are so small that the long ways are taken all the time. Most of emplace's accesses and of size's
/// are of loops over the shards, most of a compaction's of those over what was born and what was erased.
inline constexpr std::array<step_bound, 8> step_bounds{{{"emplace", 60, 64},
                                                        {"erase", 20, 15},
                                                        {"contains", 1, 1},
                                                        {"find", 2, 2},
                                                        {"access guard", 12, 0},
                                                        {"size", 24, 0},
                                                        {"compact", 800, 0},
                                                        {"try_compact", 800, 0}}};

constexpr const step_bound& bound_of(stepped_operation what) noexcept {
    return step_bounds[static_cast<std::size_t>(what)];
}

using step_counts = std::array<std::size_t, step_bounds.size()>; ///< by operation

} // namespace handlepool::support

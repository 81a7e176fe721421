// SPDX-License-Identifier: MIT
#pragma once

#include "inspected_pool.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace handlepool::inspect_tool {

/// A place of a pool's store, and what is there.
struct map_cell {
    enum class state : char {
        alive = 'a',
        newborn = 'n',  ///< created since the last compaction
        erased = 'e',   ///< and not destroyed yet
        empty = '-',    ///< of a pool whose objects never move
        reserved = 'r', ///< a handle without an object, which has no place; these come last
    };
    state is = state::empty;
    std::uint64_t handle = 0; ///< 0 if there is none
    std::optional<std::uint32_t> age = std::nullopt;
    std::optional<std::size_t> creator = std::nullopt; ///< one of the map's, if the pool records lives
    std::uint32_t hash = 0;                            ///< of the object's bytes
};

/// Part of a pool's store:
///
///     | dense store, objects and what was erased there | newborns | reserved handles |
struct store_map {
    std::uint64_t size = 0;  ///< cells of the whole store
    std::uint64_t first = 0; ///< which of them comes first here
    std::vector<map_cell> cells;
    std::vector<std::string> creators; ///< the places in the program that created the objects here
};

/// Draws `most` cells at the most, from the `first` one on. The pool goes on meanwhile, so that an object
/// that moves may be in two cells or in none. Linear in the slots ever used.
store_map draw_map(const inspected_program& program, const inspected_pool& pool, std::uint64_t first,
                   std::size_t most);

/// Each property of the cells in a row of its own.
nlohmann::ordered_json json_of(const store_map& map);

} // namespace handlepool::inspect_tool

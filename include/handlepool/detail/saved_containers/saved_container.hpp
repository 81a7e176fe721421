// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/snapshots/snapshot_entry.hpp>
#include <handlepool/detail/snapshots/snapshot_reader.hpp>
#include <handlepool/detail/snapshots/snapshot_writer.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace handlepool::detail {

/// Which container it is. The numbers are those of the file.
enum class container_form : std::uint32_t { set, map, index, hierarchy, store };

/// What comes first in the block of a container. docs/snapshot_format.md has the bytes.
struct saved_container {
    static constexpr std::uint64_t bytes = 6 * sizeof(std::uint32_t);

    container_form form = container_form::set;
    std::uint32_t widths = 0;  // of the handles' layout, as widths_of_layout() has them
    std::uint32_t option = 0;  // what the constructor was told: 0 or 1
    std::uint32_t pool_id = 0; // of the members; 0 if there are none
    std::uint32_t members = 0;
    std::uint32_t refused = 0; // objects that an index has refused
    // Of values or keys, which were read; they have a header of their own.
    std::size_t value_bytes = 0;
};

/// The two numbers with which all containers begin, stores included.
HANDLEPOOL_EXPORT void write_form(snapshot_writer& to, container_form form, std::uint32_t widths);
/// Throws invalid_snapshot for others.
HANDLEPOOL_EXPORT void read_form(block_reader& from, container_form form, std::uint32_t widths);

/// Reads them, where the container is not known. Throws invalid_snapshot for a form that there is not.
HANDLEPOOL_EXPORT saved_container read_any_form(block_reader& from);
/// "a handle_set", and so on.
HANDLEPOOL_EXPORT std::string_view name_of_form(container_form form) noexcept;

HANDLEPOOL_EXPORT void write(snapshot_writer& to, const saved_container& container);
/// Reads such a one of the form and the widths that `here` has. Throws invalid_snapshot, here and below.
HANDLEPOOL_EXPORT saved_container read_saved_container(block_reader& from, const saved_container& here);
/// The same once its form and widths were read, which `read` has.
HANDLEPOOL_EXPORT saved_container read_behind_form(block_reader& from, saved_container read);

/// "what NUMBER, #INDEX generation GENERATION, problem", for messages.
HANDLEPOOL_EXPORT std::string problem_of_member(const char* what, std::size_t number, std::uint64_t index,
                                                std::uint32_t generation, const std::string& problem);

/// What was read of this pool; null if nothing was.
inline const future_objects* find_pool(std::span<const future_objects* const> pools,
                                       const pool_of_handles& pool) noexcept {
    for (const future_objects* const each : pools) {
        if (each->pool() == pool) {
            return each;
        }
    }
    return nullptr;
}

} // namespace handlepool::detail

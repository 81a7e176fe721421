// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/properties/bag_buffer.hpp>
#include <handlepool/key_table.hpp>
#include <handlepool/property_bag.hpp>
#include <handlepool/property_error.hpp>
#include <handlepool/property_path.hpp>
#include <handlepool/property_view.hpp>

#include <cstddef>

namespace handlepool::detail {

/// Reads the buffer of a bag.
inline bag_reader reader_of(property_view bag) noexcept {
    return bag_reader(bag.bytes().data());
}

/// Two bags of which merging makes a third.
struct HANDLEPOOL_EXPORT bag_merge {
    bag_reader earlier;
    bag_reader later;
    removals how;

    /// What a compact buffer of it needs. Throws bag_too_large, which names the path. Linear.
    std::size_t size(const key_table* names) const;
    /// Makes the buffer. Memory and capacity as for bag_writer; at least size(). Linear.
    void write_to(std::byte* memory, std::size_t capacity) const noexcept;
};

/// Makes a table know the paths of a bag as far as its own table does. Without one of the two, does nothing.
/// Throws path_collision and std::bad_alloc.
HANDLEPOOL_EXPORT void add_paths_of(property_view bag, key_table* names);

/// What is thrown when a bag would exceed its limit by one more entry. Throws std::bad_alloc.
bag_too_large too_large_with(const bag_reader& bag, property_path path, const bag_entry& entry,
                             const key_table* names);

} // namespace handlepool::detail

// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/properties/bag_buffer.hpp>

#include <cstddef>

namespace handlepool {
enum class removals;
class key_table;
class property_view;
} // namespace handlepool

namespace handlepool::detail {

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

} // namespace handlepool::detail

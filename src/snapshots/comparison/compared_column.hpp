// SPDX-License-Identifier: MIT
#pragma once

#include "difference_list.hpp"
#include "element_layout.hpp"

#include <handlepool/detail/snapshots/saved_type.hpp>
#include <handlepool/detail/snapshots/snapshot_reader.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace handlepool::detail {

/// Elements as a snapshot has them: the objects of a pool, a column of them, the values of a container, or a
/// value.
class compared_column {
public:
    /// Reads so many. The bytes outlive it. Throws invalid_snapshot and std::bad_alloc.
    compared_column(block_reader& from, std::size_t count);

    std::string_view name() const noexcept { return header_.name; }
    const saved_type& type() const noexcept { return header_.type; }
    std::span<const std::byte> element(std::size_t i) const noexcept;

private:
    elements_header header_;
    std::span<const std::byte> bytes_;
    std::vector<std::uint64_t> ends_; // of archived ones
};

/// Compares elements of two snapshots.
class column_comparison {
public:
    /// Adds a difference where the types differ: then elements are not compared. Throws std::invalid_argument
    /// where the caller of the comparison has named members that the type has no room for.
    column_comparison(const compared_column& first, const compared_column& second, difference_list& to);

    /// Else there is nothing to compare, and no object to name.
    bool have_other_bytes(std::size_t first, std::size_t second) const noexcept;
    /// Of elements that have other bytes.
    void compare(const std::string& object, std::size_t first, std::size_t second, difference_list& to) const;

private:
    void compare_members(const std::string& object, std::span<const std::byte> first,
                         std::span<const std::byte> second, difference_list& to) const;

    const compared_column& first_;
    const compared_column& second_;
    std::string before_; // what comes before a member's name
    bool is_comparable_ = false;
    std::vector<named_member> members_;
};

} // namespace handlepool::detail

// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/text/text.hpp>
#include <handlepool/snapshots/compare_snapshots.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace handlepool::detail {

/// Takes the differences of one part, as many as are wanted, and counts the others.
class difference_list {
public:
    difference_list(snapshot_differences& all, std::string_view part,
                    const comparison_options& options) noexcept
        : all_(all), part_(part), options_(options), left_(options.most) {}

    /// What the caller of the comparison says of a type.
    std::vector<named_member> members_of(std::string_view column, std::size_t size) const {
        return options_.members ? options_.members(part_, column, size) : std::vector<named_member>();
    }

    void add(std::string object, std::string what, std::string first, std::string second) {
        if (left_ == 0) {
            ++all_.left_out;
            return;
        }
        all_.found.push_back({.part = printable(part_),
                              .object = std::move(object),
                              .what = std::move(what),
                              .first = std::move(first),
                              .second = std::move(second)});
        --left_;
    }
    /// Of numbers, if they differ.
    void compare(const std::string& object, std::string_view what, std::uint64_t first,
                 std::uint64_t second) {
        if (first != second) {
            add(object, std::string(what), std::to_string(first), std::to_string(second));
        }
    }

private:
    snapshot_differences& all_;
    std::string_view part_;
    const comparison_options& options_;
    std::size_t left_;
};

inline constexpr const char* said_there = "is there";
inline constexpr const char* said_missing = "is not there";

} // namespace handlepool::detail

// SPDX-License-Identifier: MIT
#pragma once

#include "snapshot_format.hpp"

#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/detail/text/text.hpp>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>

// What is added under a name: to a snapshot, or to a delta_recorder, which is called `to` in messages.
namespace handlepool::detail {

/// Throws std::invalid_argument.
[[noreturn]] inline void refuse_part(std::string_view to, std::string_view name, const std::string& problem) {
    throw_exception(std::invalid_argument(std::string(to) + ", '" + printable(name) + "': " + problem));
}

/// Throws std::invalid_argument unless objects that are added without an archive consist of bytes.
inline void require_bytes_in(std::string_view to, std::string_view name, bool consists_of_bytes) {
    if (!consists_of_bytes) {
        refuse_part(
            to, name,
            "a raw_type with a function to relocate or destroy objects is no type of such that consist "
            "of bytes");
    }
}

/// Throws std::invalid_argument unless the name can be one, and none of the entries has it.
template <class Entries>
void require_free_name(std::string_view to, std::string_view name, const Entries& entries) {
    if (const auto problem = problem_of_name(name)) {
        refuse_part(to, name, *problem);
    }
    if (std::any_of(entries.begin(), entries.end(),
                    [name](const auto& each) { return each->name() == name; })) {
        refuse_part(to, name, "something has been added under this name already");
    }
}

} // namespace handlepool::detail

// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <source_location>
#include <string>
#include <string_view>

namespace handlepool::model {

/// Lines of a file, in which one access to an atomic stands.
struct access_place {
    std::string
        file; // the end of its path, with the folder that was searched: "/handlepool/detail/shard.hpp"
    std::uint32_t first_line = 0;
    std::uint32_t last_line = 0;

    bool holds(const std::source_location& where) const noexcept {
        return where.line() >= first_line && where.line() <= last_line &&
               std::string_view(where.file_name()).ends_with(file);
    }
};

/// The access that is made weaker than the headers say, if any, and the order that it gets.
struct weakening {
    bool active = false;
    access_place place{};
    std::memory_order order = std::memory_order::relaxed;
    bool of_failure = false; ///< is it that of an exchange that fails?
    bool was_made = false;   ///< has a model made this access?
};

inline weakening weakened;

/// The order that an access gets for which the headers say `order`.
inline std::memory_order effective(std::memory_order order, const std::source_location& where,
                                   bool of_failure = false) noexcept {
    const bool hit = weakened.active && weakened.of_failure == of_failure &&
                     order != std::memory_order::relaxed && weakened.place.holds(where);
    weakened.was_made = weakened.was_made || hit;
    return hit ? weakened.order : order;
}

} // namespace handlepool::model

// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

namespace handlepool {

/// How much memory something occupies, in bytes.
struct memory_use {
    std::size_t reserved = 0; ///< address space
    std::size_t resident = 0; ///< of it, what the system has backed by memory

    /// Field by field.
    friend constexpr memory_use operator+(memory_use one, memory_use other) noexcept {
        return {.reserved = one.reserved + other.reserved, .resident = one.resident + other.resident};
    }
    friend constexpr bool operator==(memory_use, memory_use) = default;
};

namespace detail {

/// The sum over several things that have a function memory().
template <class... Things>
memory_use memory_of(const Things&... things) noexcept {
    return (things.memory() + ...);
}

} // namespace detail

} // namespace handlepool

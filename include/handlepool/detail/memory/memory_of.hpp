// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/memory_use.hpp>

namespace handlepool::detail {

/// The sum over several things that have a function memory().
template <class... Things>
memory_use memory_of(const Things&... things) noexcept {
    return (things.memory() + ...);
}

} // namespace handlepool::detail

// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/fwd.hpp>

namespace handlepool::detail {

/// Reaches the inside of a pool, for those functions of the library that are no members of it.
struct pool_access {
    template <class T, class Traits>
    static auto& core_of(pool_base<T, Traits>& pool) noexcept {
        return pool.core();
    }
    template <class T, class Traits>
    static const auto& core_of(const pool_base<T, Traits>& pool) noexcept {
        return pool.core();
    }
};

} // namespace handlepool::detail

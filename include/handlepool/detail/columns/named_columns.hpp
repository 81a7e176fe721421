// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/columns/type_list.hpp>
#include <handlepool/fwd.hpp>

#include <cstddef>

namespace handlepool::detail {

/// The columns of a pool's objects, and how users name them: by index, or by a type that only one of them
/// has. None, where the objects are no rows.
template <class T>
struct named_columns {
    static constexpr std::size_t count = 0;
    template <class C>
    static constexpr bool has = false;
};
template <class... Cs>
struct named_columns<columns<Cs...>> {
    static constexpr std::size_t count = sizeof...(Cs);
    template <class C>
    static constexpr bool has = occurrences_of<C, Cs...> == 1;
    template <class C>
    static constexpr std::size_t index = index_of<C, Cs...>();
};

} // namespace handlepool::detail

// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/fwd.hpp>

#include <type_traits>

namespace handlepool::detail {

/// Does T name the columns of rows, rather than the type of objects?
template <class T>
inline constexpr bool is_columns = false;
template <class... Cs>
inline constexpr bool is_columns<columns<Cs...>> = true;
template <class... Cs>
inline constexpr bool is_columns<const columns<Cs...>> = true;

/// How an object of type T is reached within a frame: by a pointer and a reference, or by the types that
/// stand for both when it is a row, whose elements lie in several places.
template <class T>
struct object_access {
    using pointer = T*;
    using reference = std::add_lvalue_reference_t<T>;
};
template <class... Cs>
struct object_access<columns<Cs...>> {
    using pointer = row_pointer<Cs...>;
    using reference = row<Cs...>;
};
template <class... Cs>
struct object_access<const columns<Cs...>> {
    using pointer = row_pointer<const Cs...>;
    using reference = row<const Cs...>;
};

} // namespace handlepool::detail

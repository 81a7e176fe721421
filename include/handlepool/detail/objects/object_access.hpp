// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/fwd.hpp>

#include <type_traits>
#include <utility>

namespace handlepool::detail {

/// Does T name the columns of rows, rather than the type of objects?
template <class T>
inline constexpr bool is_columns = false;
template <class... Cs>
inline constexpr bool is_columns<columns<Cs...>> = true;
template <class... Cs>
inline constexpr bool is_columns<const columns<Cs...>> = true;

/// How an object of type T is reached within a frame: by a pointer and a reference, or by the types that
/// stand for both: of a row, whose elements lie in several places, and where the type is known at run time
/// only. And what a sink takes, to which an object is given away.
template <class T>
struct object_access {
    using pointer = T*;
    using reference = T&;
    using given_away = T&&;

    static reference refer(pointer object) noexcept { return *object; }
    static given_away give_away(pointer object) noexcept { return std::move(*object); }
};
template <class Void>
    requires std::is_void_v<Void>
struct object_access<Void> {
    using pointer = Void*;
    using reference = Void*;
    using given_away = Void*;

    static reference refer(pointer object) noexcept { return object; }
    static given_away give_away(pointer object) noexcept { return object; }
};
template <class... Cs>
struct row_access {
    using pointer = row_pointer<Cs...>;
    using reference = row<Cs...>;
    using given_away = row<Cs...>;

    static reference refer(pointer found) noexcept { return *found; }
    static given_away give_away(pointer found) noexcept { return *found; }
};
template <class... Cs>
struct object_access<columns<Cs...>> : row_access<Cs...> {};
template <class... Cs>
struct object_access<const columns<Cs...>> : row_access<const Cs...> {};

} // namespace handlepool::detail

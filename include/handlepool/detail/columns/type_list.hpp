// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

/// Types by their index, and the other way round.
namespace handlepool::detail {

/// How many of Ts are T?
template <class T, class... Ts>
inline constexpr std::size_t occurrences_of = (std::size_t{0} + ... + (std::is_same_v<T, Ts> ? 1 : 0));

/// Index of the first of Ts that is T; sizeof...(Ts) when there is none.
template <class T, class... Ts>
constexpr std::size_t index_of() noexcept {
    std::size_t index = 0;
    static_cast<void>(((std::is_same_v<T, Ts> || (static_cast<void>(++index), false)) || ...));
    return index;
}

template <std::size_t Index, class T>
struct indexed_type {
    using type = T;
};
template <class Indices, class... Ts>
struct indexed_types;
template <std::size_t... Is, class... Ts>
struct indexed_types<std::index_sequence<Is...>, Ts...> : indexed_type<Is, Ts>... {};

template <std::size_t Index, class T>
indexed_type<Index, T> select_type(indexed_type<Index, T>);

/// The type of this index.
template <std::size_t Index, class... Ts>
using type_at =
    typename decltype(select_type<Index>(indexed_types<std::index_sequence_for<Ts...>, Ts...>{}))::type;

} // namespace handlepool::detail

// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <new>
#include <type_traits>
#include <utility>

#if defined(__GNUC__)
// To give fewer values than there are members, and no braces around inner ones, is the caller's choice.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#pragma GCC diagnostic ignored "-Wmissing-braces"
#endif

/// How a pool makes an object from arguments: by parentheses, like any container, but an aggregate by braces.
/// Parentheses would make aggregates too in C++20, but they narrow silently, and want inner braces for
/// arrays.
namespace handlepool::detail {

template <class T, class... Args>
concept made_by_braces = std::is_aggregate_v<T> && requires { T{std::declval<Args>()...}; };

/// Whether the one argument converts to an aggregate T. Constructibility alone would also be that of its
/// first member.
template <class T, class... Args>
concept converts_to_aggregate =
    std::is_aggregate_v<T> && sizeof...(Args) == 1 &&
    ((std::convertible_to<Args, T> || requires { std::declval<Args>().operator T(); }) && ...);

/// Whether a pool can make a T from these arguments.
template <class T, class... Args>
concept emplaceable_from = made_by_braces<T, Args...> || converts_to_aggregate<T, Args...> ||
                           (!std::is_aggregate_v<T> && std::constructible_from<T, Args...>);

/// A function that makes a T when it is told its handle.
template <class Make, class T, class Handle>
concept factory_of =
    std::invocable<Make, Handle> && std::constructible_from<T, std::invoke_result_t<Make, Handle>>;

template <class T, class... Args>
consteval bool is_nothrow_emplaceable_from() {
    if constexpr (made_by_braces<T, Args...>) {
        return noexcept(T{std::declval<Args>()...});
    } else {
        return std::is_nothrow_constructible_v<T, Args...>;
    }
}

/// Makes a T in raw memory.
template <class T, class... Args>
    requires emplaceable_from<T, Args...>
void make_at(void* memory, Args&&... args) noexcept(is_nothrow_emplaceable_from<T, Args...>()) {
    if constexpr (made_by_braces<T, Args...>) {
        ::new (memory) T{std::forward<Args>(args)...};
    } else {
        ::new (memory) T(std::forward<Args>(args)...);
    }
}

/// Makes a T in raw memory from what `make()` returns, without a move when that is a T.
template <class T, class Make>
void make_with(void* memory, Make make) {
    ::new (memory) T(make());
}

} // namespace handlepool::detail

#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

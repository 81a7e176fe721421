// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <iterator>
#include <new>
#include <type_traits>
#include <utility>

#if defined(__GNUC__)
// To give fewer values than there are members, and no braces around inner ones, is the caller's choice.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#pragma GCC diagnostic ignored "-Wmissing-braces"
#endif

/// How a pool makes an object, from arguments or by a function, at a *site*: in raw memory, or in a
/// recycling_pool's recycled_site, for which the functions here have overloads.
///
/// Parentheses make an object, as in any container, but braces an aggregate. Parentheses would make
/// aggregates too in C++20, but they narrow silently, and want inner braces for arrays.
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

/// A function that returns a T, or what a T is made from, when it is called with a handle or an index.
template <class Make, class T, class Argument>
concept factory_of = std::invocable<Make, Argument> &&
                     (std::same_as<std::remove_cv_t<std::invoke_result_t<Make, Argument>>, T> ||
                      emplaceable_from<T, std::invoke_result_t<Make, Argument>>);

/// A factory that is called with 0, 1, 2 and so on, and from which a T can't be made itself.
template <class Make, class T>
concept generator_of = factory_of<Make&, T, std::size_t> && !emplaceable_from<T, const Make&>;

/// A range from whose elements a T can be made.
template <class Range, class T>
concept range_from = requires(Range& range) {
    { std::ranges::begin(range) } -> std::input_iterator;
    std::ranges::end(range);
    requires emplaceable_from<T, decltype(*std::ranges::begin(range))>;
};

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
void make_by(void* memory, Make&& make) {
    if constexpr (std::same_as<std::remove_cv_t<std::invoke_result_t<Make&>>, T>) {
        ::new (memory) T(make());
    } else {
        make_at<T>(memory, make());
    }
}

/// Returns a function that makes a T from `args`, which must live until it was called, at any site.
template <class T, class... Args>
auto maker_from(Args&&... args) noexcept {
    return [&](auto site) noexcept(noexcept(make_at<T>(site, std::forward<Args>(args)...))) {
        make_at<T>(site, std::forward<Args>(args)...);
    };
}

/// An object made like those of a pool, for a container, which would use parentheses.
template <class T>
struct made_object {
    template <class Arg>
    explicit made_object(Arg&& arg) : object(made(std::forward<Arg>(arg))) {}

    template <class Arg>
    static T made(Arg&& arg) {
        if constexpr (made_by_braces<T, Arg>) {
            return T{std::forward<Arg>(arg)};
        } else {
            return T(std::forward<Arg>(arg));
        }
    }

    T object;
};

} // namespace handlepool::detail

#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

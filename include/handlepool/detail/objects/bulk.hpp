// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/objects/emplaceable_from.hpp>

#include <concepts>
#include <cstddef>
#include <iterator>
#include <new>
#include <type_traits>
#include <utility>

/// What pools need to make many objects at once, and to find several. Without <ranges>; see range_of.
namespace handlepool::detail {

/// Makes the objects T, and is not what one is made from itself.
template <class Make, class T>
concept generator_of = std::invocable<Make&, std::size_t> && !emplaceable_from<T, const Make&> &&
                       (std::same_as<std::invoke_result_t<Make&, std::size_t>, T> ||
                        emplaceable_from<T, std::invoke_result_t<Make&, std::size_t>>);

/// Makes a T of what `make(i)` returns.
template <class T, class Make>
void make_by(void* memory, Make& make, std::size_t i) {
    if constexpr (std::same_as<std::invoke_result_t<Make&, std::size_t>, T>) {
        ::new (memory) T(make(i)); // in place, not moved
    } else {
        make_at<T>(memory, make(i));
    }
}

/// A range from whose elements T can be made.
template <class Range, class T>
concept range_from = requires(Range& range) {
    { std::ranges::begin(range) } -> std::input_iterator;
    std::ranges::end(range);
    requires emplaceable_from<T, decltype(*std::ranges::begin(range))>;
};

/// Is its size known, or can it be read twice?
template <class Range>
concept countable = requires(Range& range) { std::ranges::size(range); } || requires(Range& range) {
    { std::ranges::begin(range) } -> std::forward_iterator;
};

template <class Range>
std::size_t length_of(Range& range) {
    if constexpr (requires { std::ranges::size(range); }) {
        return static_cast<std::size_t>(std::ranges::size(range));
    } else {
        return static_cast<std::size_t>(
            std::ranges::distance(std::ranges::begin(range), std::ranges::end(range)));
    }
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

// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <iterator>

/// What pools ask of ranges. Without <ranges>, which is half as long as all that a pool includes:
/// std::ranges::begin and end are in <iterator> too.
namespace handlepool::detail {

/// A range whose elements convert to `Element`.
template <class Range, class Element>
concept range_of = requires(Range& range) {
    { *std::ranges::begin(range) } -> std::convertible_to<Element>;
    std::ranges::end(range);
};

/// A range that knows its size, or can be read twice.
template <class Range>
concept countable = requires(Range& range) { std::ranges::size(range); } || requires(Range& range) {
    { std::ranges::begin(range) } -> std::forward_iterator;
};

template <countable Range>
std::size_t length_of(Range& range) {
    if constexpr (requires { std::ranges::size(range); }) {
        return static_cast<std::size_t>(std::ranges::size(range));
    } else {
        return static_cast<std::size_t>(
            std::ranges::distance(std::ranges::begin(range), std::ranges::end(range)));
    }
}

} // namespace handlepool::detail

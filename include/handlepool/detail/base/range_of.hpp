// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <iterator>

namespace handlepool::detail {

/// A range whose elements convert to `Element`. Without <ranges>, which is half as long as all that a pool
/// includes: std::ranges::begin and end are in <iterator> too.
template <class Range, class Element>
concept range_of = requires(Range& range) {
    { *std::ranges::begin(range) } -> std::convertible_to<Element>;
    std::ranges::end(range);
};

} // namespace handlepool::detail

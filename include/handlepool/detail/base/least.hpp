// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <limits>

namespace handlepool::detail {

/// The lesser and the greater of two numbers: std::min and std::max, without the twenty thousand lines of
/// <algorithm>.
template <class Number>
constexpr Number least(Number a, Number b) noexcept {
    return b < a ? b : a;
}
template <class Number>
constexpr Number greatest(Number a, Number b) noexcept {
    return a < b ? b : a;
}

/// A limit that nothing reaches.
inline constexpr std::size_t unlimited = (std::numeric_limits<std::size_t>::max)();

} // namespace handlepool::detail

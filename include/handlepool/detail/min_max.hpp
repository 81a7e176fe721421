#pragma once

namespace handlepool::detail {

/// std::min and std::max of numbers, without the twenty thousand lines of <algorithm>.
template <class Number>
constexpr Number min(Number a, Number b) noexcept {
    return b < a ? b : a;
}
template <class Number>
constexpr Number max(Number a, Number b) noexcept {
    return a < b ? b : a;
}

} // namespace handlepool::detail

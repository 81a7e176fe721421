// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>

#include <cstddef>

namespace handlepool::test {

/// How many comparisons a sort of so many objects makes only to see whether they contradict each other.
constexpr std::size_t comparisons_to_check(std::size_t count) {
    std::size_t sum = count;
    for (std::size_t distance = 1; distance < count; distance *= 2) {
        sum += (count - 1) / distance;
    }
    return detail::checked ? sum : 0;
}

/// At how many places the values differ.
template <class Values>
std::size_t places_that_differ(const Values& a, const Values& b) {
    std::size_t count = 0;
    for (std::size_t i = 0; i != a.size(); ++i) {
        count += a[i] == b[i] ? 0U : 1U;
    }
    return count;
}

} // namespace handlepool::test

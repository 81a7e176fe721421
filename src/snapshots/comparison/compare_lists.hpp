// SPDX-License-Identifier: MIT
#pragma once

#include "difference_list.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace handlepool::detail {

/// Adds the first difference of two lists, of which `text(element)` names each element. Throws
/// std::bad_alloc.
template <class Element, class Text>
void compare_lists(std::string_view what, const std::vector<Element>& first,
                   const std::vector<Element>& second, difference_list& to, Text text) {
    const auto [here, there] = std::ranges::mismatch(first, second);
    if (here == first.end() && there == second.end()) {
        return;
    }
    const auto text_at = [&text](const auto& list, auto at) {
        return at == list.end() ? std::string("none") : text(*at);
    };
    to.add("", std::string(what) + ", number " + std::to_string(here - first.begin()), text_at(first, here),
           text_at(second, there));
}

/// The same of numbers.
template <class Number>
void compare_lists(std::string_view what, const std::vector<Number>& first, const std::vector<Number>& second,
                   difference_list& to) {
    compare_lists(what, first, second, to, [](Number number) { return std::to_string(number); });
}

} // namespace handlepool::detail

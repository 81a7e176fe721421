// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string_view>

namespace handlepool::detail {

/// The name of a type as the compiler writes it: "game::ship"; where it writes none, an empty text. Lasts as
/// long as the program.
template <class T>
constexpr std::string_view type_name() noexcept {
#if defined(__clang__) || defined(__GNUC__)
    constexpr std::string_view function =
        __PRETTY_FUNCTION__; // "... [T = game::ship]", "... [with T = ...; "
    constexpr std::string_view before = "T = ";
    constexpr std::size_t first = function.find(before) + before.size();
    constexpr std::size_t behind = function.find(';', first);
    constexpr std::size_t last = behind != function.npos ? behind : function.rfind(']');
    return function.substr(first, last - first);
#else
    return {};
#endif
}

} // namespace handlepool::detail

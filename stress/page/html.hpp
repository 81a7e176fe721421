// SPDX-License-Identifier: MIT
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>

namespace handlepool::stress::page {

// As text or as the value of a quoted attribute, in HTML and in SVG. Control characters, which HTML has not,
// become U+FFFD.
std::string escaped(std::string_view text);

// A cell of a table with a number as `format` has it, or with a dash if it is not known.
template <class Number, class Format>
std::string cell(const std::optional<Number>& number, const Format& format) {
    return fmt::format("<td>{}</td>", number ? format(*number) : "–");
}

} // namespace handlepool::stress::page

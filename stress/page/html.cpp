// SPDX-License-Identifier: MIT
#include "html.hpp"

#include <handlepool/detail/text/text.hpp>

namespace handlepool::stress::page {

std::string escaped(std::string_view text) {
    return detail::escaped(text, [](char32_t character) -> std::string {
        switch (character) {
        case '&':
            return "&amp;";
        case '<':
            return "&lt;";
        case '>':
            return "&gt;";
        case '"':
            return "&quot;";
        case '\'':
            return "&#39;";
        case '\n':
        case '\t':
            return {static_cast<char>(character)};
        default:
            return {};
        }
    });
}

} // namespace handlepool::stress::page

// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

// Texts that leave the program. A name is any bytes, but whoever reads a text expects UTF-8, and a terminal
// obeys control characters. So what is not UTF-8 becomes U+FFFD in all that is written, as Unicode advises:
// one for each longest beginning of a character. Control characters are those of Unicode, U+0080 to U+009F
// too.
namespace handlepool::detail {

/// The text for people: control characters become U+FFFD too, so that a name can't add lines to a message.
/// Throws std::bad_alloc, here and below.
HANDLEPOOL_EXPORT std::string printable(std::string_view text);

/// Like printable(), for as many whole characters as there is room for. Returns the number of bytes. Needs no
/// memory.
HANDLEPOOL_EXPORT std::size_t copy_printable(std::string_view text, std::span<char> to) noexcept;

/// The text as JSON has it, in quotes: control characters are escaped.
HANDLEPOOL_EXPORT std::string json_string(std::string_view text);

/// The text as the value of a label of Prometheus, in quotes. That knows no control character but a new line.
HANDLEPOOL_EXPORT std::string prometheus_label(std::string_view text);

/// Returns whether the text is valid UTF-8.
HANDLEPOOL_EXPORT bool is_utf8(std::string_view text) noexcept;

/// What a format has in place of a character of ASCII, or of a control character; nothing: the character
/// itself, or U+FFFD for a control character.
using escape_function = std::string (*)(char32_t character);

/// The text in any format that escapes single characters.
HANDLEPOOL_EXPORT std::string escaped(std::string_view text, escape_function escape);

} // namespace handlepool::detail

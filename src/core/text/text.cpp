// SPDX-License-Identifier: MIT
#include <handlepool/detail/text/message.hpp>
#include <handlepool/detail/text/text.hpp>

#include <cstdint>

namespace handlepool::detail {

namespace {

constexpr std::string_view replacement = "\xef\xbf\xbd";

/// The first character of a text, or what is none.
struct first_character {
    std::size_t size = 1;
    bool sound = false;
    char32_t code = 0; // of a sound one

    bool is_control() const noexcept { return code < 0x20 || (code >= 0x7f && code < 0xa0); }
    bool is_shown() const noexcept { return sound && !is_control(); }
};

struct sequence {
    std::size_t size;      // 0: no character begins so
    std::uint8_t least;    // of the second byte: neither longer than need be, nor a surrogate, nor beyond
    std::uint8_t greatest; // U+10FFFF
};

constexpr sequence sequence_of(std::uint8_t lead) noexcept {
    switch (lead) {
    case 0xe0:
        return {3, 0xa0, 0xbf};
    case 0xed:
        return {3, 0x80, 0x9f};
    case 0xf0:
        return {4, 0x90, 0xbf};
    case 0xf4:
        return {4, 0x80, 0x8f};
    default:
        return {lead >= 0xc2 && lead <= 0xdf   ? std::size_t{2}
                : lead >= 0xe0 && lead <= 0xef ? std::size_t{3}
                : lead >= 0xf0 && lead <= 0xf3 ? std::size_t{4}
                                               : std::size_t{0},
                0x80, 0xbf};
    }
}

/// `text` is not empty.
first_character first_of(std::string_view text) noexcept {
    const auto lead = static_cast<std::uint8_t>(text.front());
    if (lead < 0x80) {
        return {.size = 1, .sound = true, .code = lead};
    }
    const sequence expected = sequence_of(lead);
    char32_t code = lead & (0x7fU >> expected.size);
    std::size_t size = 1;
    for (; size < expected.size && size != text.size(); ++size) {
        const auto next = static_cast<std::uint8_t>(text[size]);
        if (next < (size == 1 ? expected.least : 0x80) || next > (size == 1 ? expected.greatest : 0xbf)) {
            break;
        }
        code = code << 6 | (next & 0x3f);
    }
    return {.size = size, .sound = size == expected.size, .code = code};
}

/// Calls `take(character, bytes)` for each, until that returns false.
template <class Take>
void for_each_character(std::string_view text, Take take) {
    while (!text.empty()) {
        const first_character next = first_of(text);
        if (!take(next, text.substr(0, next.size))) {
            return;
        }
        text.remove_prefix(next.size);
    }
}

std::string in_quotes(std::string_view text, escape_function escape) {
    return '"' + escaped(text, escape) + '"';
}

std::string escape_of_json(char32_t character) {
    constexpr std::string_view short_ones = "\"\\\b\f\n\r\t";
    constexpr std::string_view letters = "\"\\bfnrt";
    if (const std::size_t found = short_ones.find(static_cast<char>(character));
        character < 0x80 && found != std::string_view::npos) {
        return {'\\', letters[found]};
    }
    if (!first_character{.sound = true, .code = character}.is_control()) {
        return {};
    }
    constexpr std::string_view digits = "0123456789abcdef";
    return {'\\', 'u', '0', '0', digits[character >> 4], digits[character & 15]};
}

std::string escape_of_prometheus(char32_t character) {
    switch (character) {
    case '\n':
        return "\\n";
    case '"':
        return "\\\"";
    case '\\':
        return "\\\\";
    default:
        return {};
    }
}

} // namespace

std::string printable(std::string_view text) {
    return escaped(text, [](char32_t) { return std::string(); });
}

std::size_t copy_printable(std::string_view text, std::span<char> to) noexcept {
    std::size_t copied = 0;
    for_each_character(text, [&](const first_character& next, std::string_view bytes) {
        const std::string_view shown = next.is_shown() ? bytes : replacement;
        if (shown.size() > to.size() - copied) {
            return false;
        }
        copied += shown.copy(to.data() + copied, shown.size());
        return true;
    });
    return copied;
}

std::string json_string(std::string_view text) {
    return in_quotes(text, escape_of_json);
}

std::string prometheus_label(std::string_view text) {
    return in_quotes(text, escape_of_prometheus);
}

bool is_utf8(std::string_view text) noexcept {
    bool all_sound = true;
    for_each_character(text,
                       [&](const first_character& next, std::string_view) { return all_sound = next.sound; });
    return all_sound;
}

std::string escaped(std::string_view text, escape_function escape) {
    std::string result;
    result.reserve(text.size());
    for_each_character(text, [&](const first_character& next, std::string_view bytes) {
        const bool may_have_escape = next.sound && (next.code < 0x80 || next.is_control());
        const std::string escape_of_this = may_have_escape ? escape(next.code) : std::string();
        result += !escape_of_this.empty() ? std::string_view(escape_of_this)
                  : next.is_shown()       ? bytes
                                          : replacement;
        return true;
    });
    return result;
}

fixed_message::fixed_message(std::string_view text) noexcept {
    copy_printable(text, std::span(text_).first(text_.size() - 1));
}

std::string quoted_pool(std::string_view name) {
    return "pool '" + printable(name) + "'";
}

std::string name_of_handle(std::uint64_t index, std::uint32_t generation) {
    std::string name = "#";
    name += std::to_string(index);
    name += " generation ";
    name += std::to_string(generation);
    return name;
}

} // namespace handlepool::detail

// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

// How messages about files name what is there, and what is expected.
namespace handlepool::detail {

/// "1 byte is there", "2 bytes are there".
inline std::string counted(std::uint64_t count, std::string_view what, std::string_view state) {
    std::string text = std::to_string(count) + ' ';
    text += what;
    text += count == 1 ? " is " : "s are ";
    text += state;
    return text;
}

inline std::string text_of_hash(std::uint64_t hash) {
    std::string text(16, '0');
    for (std::size_t i = text.size(); i != 0; hash >>= 4) {
        text[--i] = "0123456789abcdef"[hash & 15];
    }
    return text;
}

} // namespace handlepool::detail

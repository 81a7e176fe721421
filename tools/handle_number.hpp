// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/text/text.hpp>

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <system_error>

namespace handlepool {

/// The handle that was typed. Throws std::runtime_error for what is none.
inline std::uint64_t number_of_handle(const std::string& text) {
    const bool is_hexadecimal = text.starts_with("0x") || text.starts_with("0X");
    const char* const first = text.data() + (is_hexadecimal ? 2 : 0);
    const char* const last = text.data() + text.size();
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(first, last, value, is_hexadecimal ? 16 : 10);
    if (error != std::errc() || end != last) {
        throw std::runtime_error(
            fmt::format("'{}' is no handle: a handle is a number of 64 bits, 4294968317 or "
                        "0x1000003fd",
                        detail::printable(text)));
    }
    return value;
}

} // namespace handlepool

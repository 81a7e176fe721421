// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <concepts>
#include <cstddef>

namespace handlepool::detail {

/// The bytes of a number, the lowest first.
template <std::unsigned_integral Number>
constexpr std::array<std::byte, sizeof(Number)> to_little_endian(Number number) noexcept {
    std::array<std::byte, sizeof(Number)> bytes{};
    for (std::size_t i = 0; i != sizeof(Number); ++i) {
        bytes[i] = static_cast<std::byte>(number >> (8 * i));
    }
    return bytes;
}

/// The number whose bytes begin there.
template <std::unsigned_integral Number>
constexpr Number from_little_endian(const std::byte* bytes) noexcept {
    Number number = 0;
    for (std::size_t i = 0; i != sizeof(Number); ++i) {
        number =
            static_cast<Number>(number | static_cast<Number>(std::to_integer<Number>(bytes[i]) << (8 * i)));
    }
    return number;
}

} // namespace handlepool::detail

// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>

namespace handlepool::detail {

/// The number from 0 to 2^53, where it is whole: JSON has one kind of numbers, in which 10000, 10000.0 and
/// 1e4 are the same one. Further up doubles leave whole numbers out, so that it may not be the one that was
/// written.
inline std::optional<std::uint64_t> whole_number(double number) noexcept {
    if (number >= 0 && number <= 0x1p53 && std::floor(number) == number) {
        return static_cast<std::uint64_t>(number);
    }
    return std::nullopt;
}

} // namespace handlepool::detail

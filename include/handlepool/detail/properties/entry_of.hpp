// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/properties/bag_buffer.hpp>
#include <handlepool/property_kind.hpp>
#include <handlepool/property_path.hpp>

#include <bit>
#include <concepts>
#include <cstdint>
#include <span>
#include <string_view>

namespace handlepool::detail {

/// A property as a bag stores it. A string or an array is referred to.
template <property_value T>
bag_entry entry_of(property_hash path, const T& value) noexcept {
    if constexpr (std::same_as<T, bool>) {
        return {.hash = path, .kind = property_kind::boolean, .word = value ? 1U : 0U};
    } else if constexpr (property_number<T>) {
        const auto word = std::bit_cast<std::uint32_t>(static_cast<float>(value));
        return {.hash = path, .kind = property_kind::number, .word = word};
    } else if constexpr (std::convertible_to<const T&, std::string_view>) {
        const std::string_view text = value;
        return {.hash = path, .kind = property_kind::string, .content = std::as_bytes(std::span(text))};
    } else {
        const std::span<const float> numbers = value;
        return {.hash = path, .kind = property_kind::numbers, .content = std::as_bytes(numbers)};
    }
}

} // namespace handlepool::detail

// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>

#include <concepts>
#include <cstdint>
#include <span>
#include <string_view>

/// The kinds of values that a property can have.
namespace handlepool {

/// The kind of a value. The numbers stand in files.
enum class property_kind : std::uint8_t {
    none = 0,    ///< there is no such property
    boolean = 1, ///< bool
    number = 2,  ///< float
    string = 3,  ///< std::string_view; any bytes, not terminated
    numbers = 4, ///< std::span<const float>
    removed = 5, ///< of a change: merging it removes the property
};

/// For messages: "a number", for example. Any thread, at any time; wait-free.
HANDLEPOOL_EXPORT std::string_view name_of(property_kind kind) noexcept;

/// The types as which values are read.
template <class T>
concept property_type = std::same_as<T, bool> || std::same_as<T, float> ||
                        std::same_as<T, std::string_view> || std::same_as<T, std::span<const float>>;

/// The kind of the values that are read as T.
template <property_type T>
inline constexpr property_kind kind_of = std::same_as<T, bool>               ? property_kind::boolean
                                         : std::same_as<T, float>            ? property_kind::number
                                         : std::same_as<T, std::string_view> ? property_kind::string
                                                                             : property_kind::numbers;

/// A number that a bag keeps as the nearest float; beyond the range of those, as infinity.
template <class T>
concept property_number =
    std::floating_point<T> ||
    (std::integral<T> && !std::same_as<T, bool> && !std::same_as<T, char> && !std::same_as<T, wchar_t> &&
     !std::same_as<T, char8_t> && !std::same_as<T, char16_t> && !std::same_as<T, char32_t>);

/// The types that a property can be set to: truths, numbers, strings, and arrays of floats.
template <class T>
concept property_value =
    !std::same_as<T, std::nullptr_t> &&
    (std::same_as<T, bool> || property_number<T> || std::convertible_to<const T&, std::string_view> ||
     std::convertible_to<const T&, std::span<const float>>);

} // namespace handlepool

// SPDX-License-Identifier: MIT
#include "element_layout.hpp"

#include <handlepool/detail/time/little_endian.hpp>

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <optional>

namespace handlepool::detail {

namespace {

std::optional<number_type> number_type_of(std::string_view text) {
    using kind = number_type::kind;
    if (text == "bool") {
        return number_type{.what = kind::boolean, .size = sizeof(bool)};
    }
    constexpr std::string_view letters = "iufc";
    constexpr std::array kinds{kind::signed_number, kind::unsigned_number, kind::real, kind::character};
    const std::size_t letter = text.empty() ? letters.npos : letters.find(text.front());
    if (letter == letters.npos) {
        return std::nullopt;
    }
    const std::string_view bits = text.substr(1);
    const bool is_real = kinds[letter] == kind::real;
    if (bits == "64") {
        return number_type{.what = kinds[letter], .size = 8};
    }
    if (bits == "32") {
        return number_type{.what = kinds[letter], .size = 4};
    }
    if (bits == "16" && !is_real) {
        return number_type{.what = kinds[letter], .size = 2};
    }
    if (bits == "8" && !is_real) {
        return number_type{.what = kinds[letter], .size = 1};
    }
    return std::nullopt; // wider ones are shown as bytes
}

std::uint64_t rounded_up(std::uint64_t number, std::uint64_t multiple) noexcept {
    return (number + multiple - 1) / multiple * multiple;
}

template <class Number>
std::string text_of_real(Number number, std::span<const std::byte> bytes) {
    if (std::isnan(number)) { // of which there are many
        return "nan (" + text_of_bytes(bytes) + ')';
    }
    std::array<char, 64> text{};
    const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), number);
    return {text.data(), error == std::errc() ? end : text.data()};
}

std::uint64_t unsigned_in(std::span<const std::byte> bytes) noexcept {
    std::uint64_t number = 0;
    for (std::size_t i = bytes.size(); i != 0; --i) {
        number = number << 8 | std::to_integer<std::uint64_t>(bytes[i - 1]);
    }
    return number;
}

} // namespace

std::vector<element_member> members_in(std::string_view layout, std::uint64_t size, std::uint64_t alignment) {
    std::vector<element_member> members;
    if (const auto number = number_type_of(layout)) {
        if (number->size == size) {
            members.push_back({.name = {}, .type = *number, .offset = 0});
        }
        return members;
    }
    std::uint64_t offset = 0;
    while (!layout.empty()) {
        const std::string_view one = layout.substr(0, layout.find(' '));
        layout.remove_prefix(one.size() == layout.size() ? one.size() : one.size() + 1);
        const std::size_t colon = one.find(':');
        const auto type =
            colon != one.npos && colon != 0 ? number_type_of(one.substr(colon + 1)) : std::nullopt;
        if (!type) {
            return {};
        }
        offset = rounded_up(offset, type->size);
        members.push_back(
            {.name = one.substr(0, colon), .type = *type, .offset = static_cast<std::size_t>(offset)});
        offset += type->size;
    }
    const bool is_that_size = alignment != 0 && rounded_up(offset, alignment) == size;
    return is_that_size ? members : std::vector<element_member>();
}

std::string text_of_number(const number_type& type, std::span<const std::byte> bytes) {
    const std::uint64_t number = unsigned_in(bytes.first(type.size));
    switch (type.what) {
    case number_type::kind::boolean:
        return number == 0 ? "false" : number == 1 ? "true" : std::to_string(number);
    case number_type::kind::signed_number: {
        const auto unused_bits = static_cast<unsigned>(64 - 8 * type.size);
        return std::to_string(static_cast<std::int64_t>(number << unused_bits) >> unused_bits);
    }
    case number_type::kind::real:
        return type.size == 4
                   ? text_of_real(std::bit_cast<float>(static_cast<std::uint32_t>(number)), bytes.first(4))
                   : text_of_real(std::bit_cast<double>(number), bytes.first(8));
    case number_type::kind::unsigned_number:
    case number_type::kind::character:
        break;
    }
    return std::to_string(number);
}

std::string text_of_bytes(std::span<const std::byte> bytes) {
    constexpr std::size_t most = 16;
    std::string text;
    for (const std::byte each : bytes.first(bytes.size() < most ? bytes.size() : most)) {
        if (!text.empty()) {
            text += ' ';
        }
        const auto number = std::to_integer<unsigned>(each);
        text += "0123456789abcdef"[number >> 4];
        text += "0123456789abcdef"[number & 15];
    }
    return bytes.size() > most ? text + " ..." : text;
}

} // namespace handlepool::detail

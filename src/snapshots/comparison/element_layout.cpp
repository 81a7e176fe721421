// SPDX-License-Identifier: MIT
#include "element_layout.hpp"

#include <handlepool/detail/text/text.hpp>
#include <handlepool/detail/time/little_endian.hpp>

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

namespace handlepool::detail {

namespace {

/// The number that a layout names: a member that has no name and no place yet.
std::optional<named_member> number_of(std::string_view text) {
    using kind = member_kind;
    if (text == "bool") {
        return named_member{.size = sizeof(bool), .kind = kind::boolean};
    }
    constexpr std::string_view letters = "iufc";
    constexpr std::array kinds{kind::signed_number, kind::unsigned_number, kind::real, kind::unsigned_number};
    const std::size_t letter = text.empty() ? letters.npos : letters.find(text.front());
    if (letter == letters.npos) {
        return std::nullopt;
    }
    const std::string_view bits = text.substr(1);
    const bool is_real = kinds[letter] == kind::real;
    if (bits == "64") {
        return named_member{.size = 8, .kind = kinds[letter]};
    }
    if (bits == "32") {
        return named_member{.size = 4, .kind = kinds[letter]};
    }
    if (bits == "16" && !is_real) {
        return named_member{.size = 2, .kind = kinds[letter]};
    }
    if (bits == "8" && !is_real) {
        return named_member{.size = 1, .kind = kinds[letter]};
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

std::string text_of_address(std::uint64_t address) {
    std::array<char, 16> digits{};
    const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), address, 16);
    return "0x" + std::string(digits.data(), error == std::errc() ? end : digits.data());
}

std::uint64_t unsigned_in(std::span<const std::byte> bytes) noexcept {
    std::uint64_t number = 0;
    for (std::size_t i = bytes.size(); i != 0; --i) {
        number = number << 8 | std::to_integer<std::uint64_t>(bytes[i - 1]);
    }
    return number;
}

} // namespace

std::vector<named_member> members_in(std::string_view layout, std::uint64_t size, std::uint64_t alignment) {
    std::vector<named_member> members;
    if (const auto number = number_of(layout)) {
        if (number->size == size) {
            members.push_back(*number);
        }
        return members;
    }
    std::uint64_t offset = 0;
    while (!layout.empty()) {
        const std::string_view one = layout.substr(0, layout.find(' '));
        layout.remove_prefix(one.size() == layout.size() ? one.size() : one.size() + 1);
        const std::size_t colon = one.find(':');
        auto member = colon != one.npos && colon != 0 ? number_of(one.substr(colon + 1)) : std::nullopt;
        if (!member) {
            return {};
        }
        offset = rounded_up(offset, member->size);
        member->name = one.substr(0, colon);
        member->offset = static_cast<std::size_t>(offset);
        offset += member->size;
        members.push_back(*std::move(member));
    }
    const bool is_that_size = alignment != 0 && rounded_up(offset, alignment) == size;
    return is_that_size ? members : std::vector<named_member>();
}

bool is_number(const named_member& member) noexcept {
    switch (member.kind) {
    case member_kind::bytes:
        return false;
    case member_kind::real:
        return member.bits == 0 && (member.size == 4 || member.size == 8);
    default:
        return member.size != 0 && member.size <= 8;
    }
}

std::uint64_t number_in(const named_member& member, std::span<const std::byte> bytes) noexcept {
    const auto bits = member.bits != 0 ? member.bits : static_cast<unsigned>(8 * member.size);
    const unsigned unused_bits = 64 - bits;
    const std::uint64_t number = unsigned_in(bytes.first(member.size)) >> member.first_bit << unused_bits;
    return member.kind == member_kind::signed_number
               ? static_cast<std::uint64_t>(static_cast<std::int64_t>(number) >> unused_bits)
               : number >> unused_bits;
}

std::string text_of_number(const named_member& member, std::span<const std::byte> bytes) {
    const std::uint64_t number = number_in(member, bytes);
    if (member.kind == member_kind::boolean && number < 2) {
        return number == 0 ? "false" : "true";
    }
    if (member.kind == member_kind::real) {
        return member.size == 4
                   ? text_of_real(std::bit_cast<float>(static_cast<std::uint32_t>(number)), bytes.first(4))
                   : text_of_real(std::bit_cast<double>(number), bytes.first(8));
    }
    if (member.kind == member_kind::address) {
        return text_of_address(number);
    }
    const std::string text = member.kind == member_kind::signed_number
                                 ? std::to_string(static_cast<std::int64_t>(number))
                                 : std::to_string(number);
    const std::string meaning = member.meaning ? member.meaning(number) : std::string();
    return meaning.empty() ? text : text + " (" + printable(meaning) + ')';
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

// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace handlepool::detail {

/// What a number is: how layouts name it.
struct number_type {
    enum class kind : std::uint8_t { boolean, signed_number, unsigned_number, real, character };

    kind what = kind::unsigned_number;
    std::size_t size = 0; // bytes
};

/// A member of a type, or the whole of a number.
struct element_member {
    std::string_view name; // empty: the whole
    number_type type;
    std::size_t offset = 0;
};

/// The members of a type of that size, by its layout: "i32", or "x:f32 y:f32 hull:i32", where each member
/// lies at the next multiple of its size, as compilers have it. Nothing for a layout that says something
/// else, or does not come out at that size. Throws std::bad_alloc.
std::vector<element_member> members_in(std::string_view layout, std::uint64_t size, std::uint64_t alignment);

/// A number as people read it. Throws std::bad_alloc.
std::string text_of_number(const number_type& type, std::span<const std::byte> bytes);

/// "46 00 00 00", and of many bytes the first ones. Throws std::bad_alloc.
std::string text_of_bytes(std::span<const std::byte> bytes);

} // namespace handlepool::detail

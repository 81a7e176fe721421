// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/snapshots/compare_snapshots.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace handlepool::detail {

/// The members of a type of that size, by its layout: "i32", or "x:f32 y:f32 hull:i32", where each member
/// lies at the next multiple of its size, as compilers have it. Nothing for a layout that says something
/// else, or does not come out at that size. Throws std::bad_alloc.
std::vector<named_member> members_in(std::string_view layout, std::uint64_t size, std::uint64_t alignment);

/// Whether a member is shown as a number, not as bytes.
bool is_number(const named_member& member) noexcept;

/// The number that a member's bytes are, a signed one as it is converted to this type; of a real one, its
/// bits.
std::uint64_t number_in(const named_member& member, std::span<const std::byte> bytes) noexcept;

/// A number as people read it. Throws std::bad_alloc, and what the member's meaning throws.
std::string text_of_number(const named_member& member, std::span<const std::byte> bytes);

/// "46 00 00 00", and of many bytes the first ones. Throws std::bad_alloc.
std::string text_of_bytes(std::span<const std::byte> bytes);

} // namespace handlepool::detail

// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <memory>
#include <type_traits>

namespace handlepool::detail {

/// A contiguous list, such as a string or a vector.
template <class T>
concept content_list = requires(const T& list) {
    std::to_address(list.data());
    { list.size() } -> std::convertible_to<std::size_t>;
};

/// Whether the bytes of an object are its content: it has no padding, and equal ones have equal bytes.
/// Numbers with a point are told apart bit by bit. The bytes of pointers differ from run to run.
template <class T>
inline constexpr bool is_content = (std::has_unique_object_representations_v<T> && !std::is_pointer_v<T> &&
                                    !std::is_member_pointer_v<T> && !content_list<T>) ||
                                   std::same_as<T, float> || std::same_as<T, double>;
template <class T, std::size_t Count>
inline constexpr bool is_content<std::array<T, Count>> = Count != 0 && is_content<T>; // else it has one byte
template <class T, std::size_t Count>
inline constexpr bool is_content<T[Count]> = is_content<T>;

template <class T>
inline constexpr bool is_array = std::is_array_v<T>;
template <class T, std::size_t Count>
inline constexpr bool is_array<std::array<T, Count>> = true;

/// Whether the program has a function beside the type, or that of an array's elements, that names members.
template <class T, class Hash>
inline constexpr bool has_members_beside =
    requires(const T& object, Hash& hash) { for_each_hashed(object, hash); };
template <class T, std::size_t Count, class Hash>
inline constexpr bool has_members_beside<std::array<T, Count>, Hash> = has_members_beside<T, Hash>;
template <class T, std::size_t Count, class Hash>
inline constexpr bool has_members_beside<T[Count], Hash> = has_members_beside<T, Hash>;

/// In place of a function of the program that names members: those that for_each_hashed() beside the type
/// names, or all bytes.
struct members_beside_type {};

} // namespace handlepool::detail

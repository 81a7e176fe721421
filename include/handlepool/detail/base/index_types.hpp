// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>

/// Distinct types for the numbers inside a pool, without implicit conversions between them; and counters.
namespace handlepool::detail {

/// A slot of the slot table.
enum class slot_index : std::uint32_t { none = 0xffff'ffff };

/// A position of the dense store.
enum class dense_position : std::uint32_t {};

/// A position of the nursery.
enum class nursery_position : std::uint32_t { none = 0xffff'ffff };

/// An object's index in the array that holds the dense store, and after it the nursery; object_store knows
/// where one ends and the other begins. There are at most 2^31 places: the upper half of the numbers says why
/// a slot has none, see slot_table.
enum class location : std::uint32_t { first_no_place = 0x8000'0000, nowhere = 0xffff'ffff };

/// Is there a place with this number?
constexpr bool is_place(location where) noexcept {
    return where < location::first_no_place;
}

/// The next element of a linked list. Zero, the value of fresh memory, ends the list.
enum class link : std::uint32_t { none = 0 };

constexpr link link_to(std::uint32_t index) noexcept {
    return link{index + 1};
}
constexpr std::uint32_t target_of(link to) noexcept {
    return static_cast<std::uint32_t>(to) - 1;
}

/// The number itself, for arrays and sums.
template <class Number>
constexpr std::uint32_t raw(Number number) noexcept {
    return static_cast<std::uint32_t>(number);
}

/// Adds to a counter that only the calling thread writes.
template <class Counter>
void add(Counter& counter, std::uint64_t amount) noexcept {
    counter.store(counter.load(std::memory_order::relaxed) + amount, std::memory_order::relaxed);
}

} // namespace handlepool::detail

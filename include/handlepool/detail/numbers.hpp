#pragma once

#include <atomic>
#include <cstdint>

/// What the numbers inside a pool say, as types that don't turn into each other by themselves; and counters.
namespace handlepool::detail {

/// A slot of the slot table.
enum class slot_index : std::uint32_t { none = 0xffff'ffff };

/// A position of the dense store.
enum class dense_position : std::uint32_t {};

/// A position of the nursery.
enum class nursery_position : std::uint32_t {};

/// An object's place in the array that has the dense store first and the nursery after it; the dense store
/// knows which of the two it is in.
enum class location : std::uint32_t { nowhere = 0xffff'ffff };

/// What a list leads to next; zero, like fresh memory, where it ends.
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

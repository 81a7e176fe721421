// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/base/scratch_array.hpp>
#include <handlepool/memory_use.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace handlepool::detail {

/// The order that a sort has begun to bring the objects in, while it is not reached: for each slot the number
/// of its object in that order. So it lasts while objects move and end, and a new object in a slot has none.
/// Only the thread that has closed the gate uses it, except for its memory().
template <class Policy>
class begun_order {
public:
    static constexpr std::uint32_t no_number = 0xffff'ffff;

    /// How many objects it was made for; 0 when there is none.
    std::uint32_t size() const noexcept { return size_; }

    /// The number of the slot's object, below size().
    std::uint32_t number_of(slot_index slot) const noexcept {
        return raw(slot) < numbers_.size() ? numbers_[raw(slot)] : no_number;
    }

    /// All numbers, by slot.
    const scratch_array<std::uint32_t>& numbers() const noexcept { return numbers_; }

    /// The slot has a new object.
    void leave_out(slot_index slot) noexcept {
        if (raw(slot) < numbers_.size()) {
            numbers_[raw(slot)] = no_number;
        }
    }

    /// `numbers[i]` is that of the object in slot i, one of `size`.
    void replace(scratch_array<std::uint32_t>&& numbers, std::uint32_t size) noexcept {
        bytes_.store(numbers.size() * sizeof(std::uint32_t), std::memory_order::relaxed);
        numbers_ = std::move(numbers);
        size_ = size;
    }
    void forget() noexcept { replace(scratch_array<std::uint32_t>(0), 0); }

    /// The position where the next part of a sort goes on.
    std::uint32_t next_position() const noexcept { return next_position_; }
    void set_next_position(std::uint32_t position) noexcept { next_position_ = position; }

    /// Forgets the order, and begins at the front.
    void reset() noexcept {
        forget();
        set_next_position(0);
    }

    /// Any thread, at any time.
    memory_use memory() const noexcept {
        const std::size_t bytes = bytes_.load(std::memory_order::relaxed);
        return {.reserved = bytes, .resident = bytes};
    }

private:
    scratch_array<std::uint32_t> numbers_{0};
    std::uint32_t size_ = 0;
    typename Policy::template plain<std::uint32_t> next_position_{0};
    typename Policy::template atomic<std::size_t> bytes_{0}; // of the numbers, by itself: what stats() shows
};

} // namespace handlepool::detail

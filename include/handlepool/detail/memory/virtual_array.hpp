// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/memory/allocation_label.hpp>
#include <handlepool/detail/memory/virtual_memory.hpp>
#include <handlepool/memory_use.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>

namespace handlepool::detail {

/// An array in a reserved range of address space: nothing moves, no growth step exists, and what was never
/// touched costs no memory. All bytes are zero at first and again after discard(): Element must be a type for
/// which zero bytes are the value-initialized state (integers, atomics of them, aggregates of both).
///
/// Not synchronized: the elements are, where they need to be.
template <class Element>
class virtual_array {
    static_assert(std::is_trivially_destructible_v<Element>, "elements are dropped with their pages");

public:
    virtual_array() noexcept = default;

    /// Reserves `size` elements. `expected` says how many are likely to be used: large arrays are backed by
    /// huge pages. `alignment` of the first element, a power of two. Throws reservation_failed, which repeats
    /// `what_for`. Of a plan, it must stay where it is, and has no elements before the plan was reserved.
    virtual_array(const allocation_label& what_for, std::size_t size, std::size_t expected,
                  std::size_t alignment = alignof(Element))
        : memory_(what_for, size, sizeof(Element), alignment, expected), size_(size) {}

    Element& operator[](std::size_t position) noexcept { return data()[position]; }
    const Element& operator[](std::size_t position) const noexcept { return data()[position]; }

    Element* data() noexcept { return static_cast<Element*>(memory_.data()); }
    const Element* data() const noexcept { return static_cast<const Element*>(memory_.data()); }
    std::size_t size() const noexcept { return size_; }

    /// Sees to it that these elements can be touched: see virtual_memory.
    [[nodiscard]] bool make_ready(std::size_t first, std::size_t last) noexcept {
        return memory_.make_ready(first * sizeof(Element), last * sizeof(Element));
    }

    /// Makes the elements from `first` to before `last` zero again and gives whole pages of them back to the
    /// system. Linear in what was touched.
    void discard(std::size_t first, std::size_t last) noexcept {
        memory_.discard(first * sizeof(Element), last * sizeof(Element));
    }
    void discard() noexcept { discard(0, size_); }

    /// Gives whole pages of the elements from `first` to before `last` back to the system, where it takes
    /// them: these elements are zero then, and the others as they were. Atomics may be in use meanwhile.
    void release(std::size_t first, std::size_t last) noexcept {
        memory_.release(first * sizeof(Element), last * sizeof(Element));
    }

    /// Asks the system to use huge pages for the elements from `first` to before `last`, if they fill
    /// several. A hint.
    void prefer_huge_pages(std::size_t first, std::size_t last) noexcept {
        memory_.prefer_huge_pages(first * sizeof(Element), last * sizeof(Element));
    }

    /// The end of the huge page that the element before `at` may lie in: see virtual_memory.
    std::size_t end_of_huge_page(std::size_t first, std::size_t last, std::size_t at) const noexcept {
        const std::size_t end =
            memory_.end_of_huge_page(first * sizeof(Element), last * sizeof(Element), at * sizeof(Element));
        return (end + sizeof(Element) - 1) / sizeof(Element);
    }

    /// Asks the system not to use huge pages for the elements from `first` to before `last`, not even where
    /// it does so unasked. A hint.
    void refuse_huge_pages(std::size_t first, std::size_t last) noexcept {
        memory_.refuse_huge_pages(first * sizeof(Element), last * sizeof(Element));
    }

    /// Asks the system; linear in the range.
    memory_use memory() const noexcept {
        return {.reserved = memory_.size(), .resident = memory_.resident()};
    }

private:
    virtual_memory memory_;
    std::size_t size_ = 0;
};

} // namespace handlepool::detail

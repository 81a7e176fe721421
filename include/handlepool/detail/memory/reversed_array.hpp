// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/memory/allocation_label.hpp>
#include <handlepool/memory_use.hpp>

#include <cstddef>
#include <cstdint>

namespace handlepool::detail {

/// An array that lies in memory backwards, its first element last. So the few elements at its beginning share
/// a page with those of an array that lies behind it: see memory_plan.
template <class Policy, class Element>
class reversed_array {
public:
    /// `size` elements. Throws reservation_failed, which repeats `what_for`.
    reversed_array(const allocation_label& what_for, std::size_t size)
        : elements_(what_for.from_end(), size, 0) {}

    Element& operator[](std::size_t position) noexcept { return elements_[size() - 1 - position]; }
    const Element& operator[](std::size_t position) const noexcept {
        return elements_[size() - 1 - position];
    }

    std::size_t size() const noexcept { return elements_.size(); }

    /// Bytes from an element to the next one.
    static constexpr std::int64_t stride() noexcept { return -static_cast<std::int64_t>(sizeof(Element)); }

    /// Like that of virtual_array.
    void discard(std::size_t first, std::size_t last) noexcept {
        elements_.discard(size() - last, size() - first);
    }
    void discard() noexcept { elements_.discard(); }

    memory_use memory() const noexcept { return elements_.memory(); }

private:
    typename Policy::template array<Element> elements_;
};

} // namespace handlepool::detail

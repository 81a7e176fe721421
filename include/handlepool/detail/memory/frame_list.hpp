// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/least.hpp>
#include <handlepool/detail/memory/allocation_label.hpp>
#include <handlepool/detail/memory/high_water_mark.hpp>
#include <handlepool/detail/memory/reversed_array.hpp>
#include <handlepool/memory_use.hpp>

#include <cstddef>

namespace handlepool::detail {

/// A list that compaction fills anew in each frame, from its first element on. Its memory follows its use.
template <class Policy, class Element>
class frame_list {
public:
    /// `most` elements. Throws reservation_failed.
    frame_list(const allocation_label& what_for, std::size_t most) : elements_(what_for, most) {}

    Element& operator[](std::size_t i) noexcept { return elements_[i]; }
    const Element& operator[](std::size_t i) const noexcept { return elements_[i]; }

    /// The first `count` elements were used in this frame.
    void filled(std::size_t count) noexcept { used_ = greatest<std::size_t>(used_, count); }

    /// Gives memory that is not needed frame after frame back to the system.
    void end_frame() noexcept {
        memory_.touch(used_);
        const auto cold = memory_.end_frame(used_);
        if (cold.first != cold.last) {
            elements_.discard(cold.first, cold.last);
        }
        used_ = 0;
    }
    /// Gives all memory back to the system.
    void discard() noexcept {
        elements_.discard();
        memory_.discarded();
    }

    memory_use memory() const noexcept { return elements_.memory(); }

private:
    // A system call is worth more bytes than that.
    static constexpr std::size_t spare = 64 * 1024 / sizeof(Element);

    reversed_array<Policy, Element> elements_;
    high_water_mark<Policy> memory_{spare};
    typename Policy::template plain<std::size_t> used_{0};
};

} // namespace handlepool::detail

// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/placement/promoted_groups.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <type_traits>

namespace handlepool::detail {

/// Goes over the objects of a pool that stay where they are, and skips the holes between them. An input
/// iterator for the same reason as dense_iterator: objects may be changed, but not exchanged.
template <class T, class Config>
class promoted_iterator {
    using policy = typename Config::policy;
    using word = typename promoted_groups<policy>::word;

public:
    using value_type = std::remove_const_t<T>;
    using reference = T&;
    using pointer = T*;
    using difference_type = std::ptrdiff_t;
    using iterator_category = std::input_iterator_tag;

    /// After the last object.
    promoted_iterator() noexcept = default;
    /// The first object of so many groups; `objects` is the first place.
    promoted_iterator(const promoted_groups<policy>& promoted, std::size_t groups, T* objects) noexcept
        : group_(promoted.data()), last_(group_ + groups), first_(objects) {
        if (group_ != last_) {
            left_ = *group_;
            skip_empty_groups();
        }
    }
    T& operator*() const noexcept { return first_[std::countr_zero(left_)]; }
    T* operator->() const noexcept { return &**this; }
    promoted_iterator& operator++() noexcept {
        left_ &= left_ - 1;
        if (left_ == 0) {
            skip_empty_groups();
        }
        return *this;
    }
    promoted_iterator operator++(int) noexcept {
        promoted_iterator before = *this;
        ++*this;
        return before;
    }

    friend bool operator==(const promoted_iterator& left, const promoted_iterator& right) noexcept {
        // At the end there are none left, whatever the number of groups was when the loop began.
        return left.left_ == right.left_ && (left.left_ == 0 || left.group_ == right.group_);
    }

private:
    void skip_empty_groups() noexcept {
        while (left_ == 0 && ++group_ != last_) {
            left_ = *group_;
            first_ += place_bits<policy>::group_size;
        }
    }

    const word* group_ = nullptr; // bits of the current group's objects
    const word* last_ = nullptr;  // behind those of the last group
    T* first_ = nullptr;          // the first place of the group
    std::uint64_t left_ = 0;      // bits of its objects from the current one on
};

} // namespace handlepool::detail

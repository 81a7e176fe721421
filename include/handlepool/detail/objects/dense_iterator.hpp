// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <iterator>

namespace handlepool::detail {

/// Goes over the objects of a pool, which may be changed but not exchanged: to move one into another's place
/// would change what the handles of both name. So it is an input iterator: what sorts, shuffles, reverses,
/// rotates or partitions refuses it. std::remove and std::unique accept it all the same; they must not be
/// used.
template <class T>
class dense_iterator {
public:
    using value_type = T;
    using reference = T&;
    using pointer = T*;
    using difference_type = std::ptrdiff_t;
    using iterator_category = std::input_iterator_tag;

    dense_iterator() noexcept = default;
    explicit dense_iterator(T* object) noexcept : object_(object) {}

    T& operator*() const noexcept { return *object_; }
    T* operator->() const noexcept { return object_; }
    dense_iterator& operator++() noexcept {
        ++object_;
        return *this;
    }
    dense_iterator operator++(int) noexcept { return dense_iterator(object_++); }

    friend bool operator==(dense_iterator, dense_iterator) noexcept = default;

private:
    T* object_ = nullptr;
};

} // namespace handlepool::detail

// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/objects/row_address.hpp>
#include <handlepool/row.hpp>

#include <cstddef>
#include <iterator>

namespace handlepool::detail {

/// Goes over the rows of a pool, which may be changed but not exchanged: an input iterator, for the same
/// reason as dense_iterator.
template <class... Cs>
class row_iterator {
public:
    using value_type = row<Cs...>;
    using reference = row<Cs...>;
    using pointer = row_pointer<Cs...>;
    using difference_type = std::ptrdiff_t;
    using iterator_category = std::input_iterator_tag;

    row_iterator() noexcept = default;
    explicit row_iterator(row_address place) noexcept : place_(place) {}

    reference operator*() const noexcept { return reference(place_); }
    pointer operator->() const noexcept { return pointer(place_); }
    row_iterator& operator++() noexcept {
        ++place_.position;
        return *this;
    }
    row_iterator operator++(int) noexcept {
        const row_iterator before = *this;
        ++*this;
        return before;
    }

    friend bool operator==(row_iterator, row_iterator) noexcept = default;

private:
    row_address place_;
};

} // namespace handlepool::detail

// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <iterator>
#include <span> // declares enable_view and enable_borrowed_range, without the rest of <ranges>
#include <type_traits>

namespace handlepool::detail {

/// What operator-> of an iterator over values returns, or over references to constants.
template <class Reference>
struct value_pointer {
    auto operator->() const noexcept { return &value; }
    Reference value;
};

/// Goes over positions of a store; `Look{}(position)` says what stands there. That is a value, or a reference
/// to a constant, and none into the store: so nothing that sorts or shuffles accepts it.
template <class Look>
class position_iterator {
public:
    using iterator_concept = std::random_access_iterator_tag;
    using iterator_category = std::input_iterator_tag;
    using value_type = typename Look::value_type;
    using reference = std::invoke_result_t<const Look&, std::size_t>;
    using pointer = value_pointer<reference>;
    using difference_type = std::ptrdiff_t;

    position_iterator() noexcept = default;
    position_iterator(Look look, std::size_t position) noexcept : look_(look), position_(position) {}

    reference operator*() const noexcept { return look_(position_); }
    pointer operator->() const noexcept { return {look_(position_)}; }
    reference operator[](difference_type further) const noexcept { return *(*this + further); }

    position_iterator& operator+=(difference_type further) noexcept {
        position_ += static_cast<std::size_t>(further);
        return *this;
    }
    position_iterator& operator-=(difference_type further) noexcept { return *this += -further; }
    position_iterator& operator++() noexcept { return *this += 1; }
    position_iterator& operator--() noexcept { return *this -= 1; }
    position_iterator operator++(int) noexcept {
        const position_iterator before = *this;
        ++*this;
        return before;
    }
    position_iterator operator--(int) noexcept {
        const position_iterator before = *this;
        --*this;
        return before;
    }
    friend position_iterator operator+(position_iterator from, difference_type further) noexcept {
        return from += further;
    }
    friend position_iterator operator+(difference_type further, position_iterator from) noexcept {
        return from += further;
    }
    friend position_iterator operator-(position_iterator from, difference_type back) noexcept {
        return from -= back;
    }
    friend difference_type operator-(const position_iterator& last, const position_iterator& first) noexcept {
        return static_cast<difference_type>(last.position_ - first.position_);
    }

    friend bool operator==(const position_iterator& a, const position_iterator& b) noexcept {
        return a.position_ == b.position_;
    }
    friend auto operator<=>(const position_iterator& a, const position_iterator& b) noexcept {
        return a.position_ <=> b.position_;
    }

private:
    Look look_;
    std::size_t position_ = 0;
};

/// A position_iterator that passes positions of which `Look{}.shows(position)` is false when it comes there.
/// It may stand on one whose object dies later.
template <class Look>
class filtered_iterator {
public:
    using iterator_concept = std::bidirectional_iterator_tag;
    using iterator_category = std::input_iterator_tag;
    using value_type = typename Look::value_type;
    using reference = value_type;
    using pointer = value_pointer<value_type>;
    using difference_type = std::ptrdiff_t;

    filtered_iterator() noexcept = default;
    /// Stands on the first position to be seen from that one on.
    filtered_iterator(Look look, std::size_t position) noexcept : look_(look), position_(position) {
        pass_hidden();
    }

    value_type operator*() const noexcept { return look_(position_); }
    pointer operator->() const noexcept { return {look_(position_)}; }

    filtered_iterator& operator++() noexcept {
        ++position_;
        pass_hidden();
        return *this;
    }
    filtered_iterator& operator--() noexcept {
        do {
            --position_;
        } while (position_ != 0 && !look_.shows(position_));
        return *this;
    }
    filtered_iterator operator++(int) noexcept {
        const filtered_iterator before = *this;
        ++*this;
        return before;
    }
    filtered_iterator operator--(int) noexcept {
        const filtered_iterator before = *this;
        --*this;
        return before;
    }

    friend bool operator==(const filtered_iterator& a, const filtered_iterator& b) noexcept {
        return a.position_ == b.position_;
    }

private:
    void pass_hidden() noexcept {
        while (position_ < look_.size() && !look_.shows(position_)) {
            ++position_;
        }
    }

    Look look_;
    std::size_t position_ = 0;
};

/// All positions, as a view.
template <class Look>
class projected_view {
public:
    using value_type = typename Look::value_type;
    using iterator = position_iterator<Look>;
    using const_iterator = iterator;

    projected_view() noexcept = default;
    explicit projected_view(Look look) noexcept : look_(look) {}

    iterator begin() const noexcept { return {look_, 0}; }
    iterator end() const noexcept { return {look_, size()}; }
    std::size_t size() const noexcept { return look_.size(); }
    bool empty() const noexcept { return size() == 0; }
    typename iterator::reference operator[](std::size_t position) const noexcept { return look_(position); }
    typename iterator::reference front() const noexcept { return look_(0); }
    typename iterator::reference back() const noexcept { return look_(size() - 1); }

private:
    Look look_;
};

/// The positions that `Look` shows, as a view. It looks for the first one when it is made.
template <class Look>
class filtered_view {
public:
    using value_type = typename Look::value_type;
    using iterator = filtered_iterator<Look>;
    using const_iterator = iterator;

    filtered_view() noexcept = default;
    explicit filtered_view(Look look) noexcept : first_(look, 0), last_(look, look.size()) {}

    iterator begin() const noexcept { return first_; }
    iterator end() const noexcept { return last_; }
    bool empty() const noexcept { return first_ == last_; }

private:
    iterator first_;
    iterator last_;
};

/// The positions of a pool's store: those of the moment at which it is made, as others may create more.
template <class Store>
class look_at_positions {
public:
    look_at_positions() noexcept = default;
    explicit look_at_positions(Store store) noexcept : store_(store), size_(store.positions()) {}

    std::size_t size() const noexcept { return size_; }
    bool shows(std::size_t position) const noexcept { return store_.has_object_at(position); }

protected:
    Store store_;
    std::size_t size_ = 0;
};

/// Looks at the handles there.
template <class Handle, class Store>
struct handle_projection : look_at_positions<Store> {
    using look_at_positions<Store>::look_at_positions;
    using value_type = Handle;

    Handle operator()(std::size_t position) const noexcept {
        return Handle::from_value(this->store_.owner_at(position));
    }
};

/// Looks at handles and objects: at `Entry{handle, object}`.
template <class Entry, class Store>
struct entry_projection : look_at_positions<Store> {
    using look_at_positions<Store>::look_at_positions;
    using value_type = Entry;

    Entry operator()(std::size_t position) const noexcept {
        return Entry::of(this->store_.owner_at(position), this->store_.object_at(position));
    }
};

/// An entry_projection of living objects only.
template <class Entry, class Store>
struct live_filter : entry_projection<Entry, Store> {
    using entry_projection<Entry, Store>::entry_projection;

    bool shows(std::size_t position) const noexcept { return this->store_.has_living_object_at(position); }
};

/// The objects of a store that has one at each position, or of one with holes.
template <bool Dense, class Look>
using range_of_positions = std::conditional_t<Dense, projected_view<Look>, filtered_view<Look>>;

} // namespace handlepool::detail

// What the iterators need is in the pool, or in its log.
template <class Look>
inline constexpr bool std::ranges::enable_borrowed_range<handlepool::detail::projected_view<Look>> = true;
template <class Look>
inline constexpr bool std::ranges::enable_borrowed_range<handlepool::detail::filtered_view<Look>> = true;
template <class Look>
inline constexpr bool std::ranges::enable_view<handlepool::detail::projected_view<Look>> = true;
template <class Look>
inline constexpr bool std::ranges::enable_view<handlepool::detail::filtered_view<Look>> = true;

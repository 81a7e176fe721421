#pragma once

#include <cstddef>
#include <iterator>
#include <span> // declares enable_view and enable_borrowed_range, without the rest of <ranges>

namespace handlepool::detail {

/// What operator-> of an iterator over values returns.
template <class Value>
struct value_pointer {
    const Value* operator->() const noexcept { return &value; }
    Value value;
};

/// Goes over positions of a dense store; `Look{}(position)` says what stands there. That is a value, no
/// reference into the store: so nothing that sorts or shuffles accepts it.
template <class Look>
class position_iterator {
public:
    using iterator_concept = std::random_access_iterator_tag;
    using iterator_category = std::input_iterator_tag;
    using value_type = typename Look::value_type;
    using reference = value_type;
    using pointer = value_pointer<value_type>;
    using difference_type = std::ptrdiff_t;

    position_iterator() noexcept = default;
    position_iterator(Look look, std::size_t position) noexcept : look_(look), position_(position) {}

    value_type operator*() const noexcept { return look_(position_); }
    pointer operator->() const noexcept { return {look_(position_)}; }
    value_type operator[](difference_type further) const noexcept { return *(*this + further); }

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

/// The same, but passes the positions whose objects are dead when it comes there. It may stand on one that
/// dies later.
template <class Look>
class living_iterator {
public:
    using iterator_concept = std::bidirectional_iterator_tag;
    using iterator_category = std::input_iterator_tag;
    using value_type = typename Look::value_type;
    using reference = value_type;
    using pointer = value_pointer<value_type>;
    using difference_type = std::ptrdiff_t;

    living_iterator() noexcept = default;
    /// Stands on the first living object from that position on.
    living_iterator(Look look, std::size_t position) noexcept : look_(look), position_(position) {
        pass_dead();
    }

    value_type operator*() const noexcept { return look_(position_); }
    pointer operator->() const noexcept { return {look_(position_)}; }

    living_iterator& operator++() noexcept {
        ++position_;
        pass_dead();
        return *this;
    }
    living_iterator& operator--() noexcept {
        do {
            --position_;
        } while (position_ != 0 && !look_.is_alive(position_));
        return *this;
    }
    living_iterator operator++(int) noexcept {
        const living_iterator before = *this;
        ++*this;
        return before;
    }
    living_iterator operator--(int) noexcept {
        const living_iterator before = *this;
        --*this;
        return before;
    }

    friend bool operator==(const living_iterator& a, const living_iterator& b) noexcept {
        return a.position_ == b.position_;
    }

private:
    void pass_dead() noexcept {
        while (position_ < look_.size() && !look_.is_alive(position_)) {
            ++position_;
        }
    }

    Look look_;
    std::size_t position_ = 0;
};

/// All positions of a dense store, as a view.
template <class Look>
class position_range {
public:
    using iterator = position_iterator<Look>;

    position_range() noexcept = default;
    explicit position_range(Look look) noexcept : look_(look) {}

    iterator begin() const noexcept { return {look_, 0}; }
    iterator end() const noexcept { return {look_, size()}; }
    std::size_t size() const noexcept { return look_.size(); }
    bool empty() const noexcept { return size() == 0; }
    typename Look::value_type operator[](std::size_t position) const noexcept { return look_(position); }

private:
    Look look_;
};

/// Those of living objects. It looks for the first one when it is made.
template <class Look>
class living_range {
public:
    using iterator = living_iterator<Look>;

    living_range() noexcept = default;
    explicit living_range(Look look) noexcept : first_(look, 0), last_(look, look.size()) {}

    iterator begin() const noexcept { return first_; }
    iterator end() const noexcept { return last_; }
    bool empty() const noexcept { return first_ == last_; }

private:
    iterator first_;
    iterator last_;
};

/// Looks at the handles of a pool's dense store.
template <class Handle, class Core>
struct look_at_handles {
    using value_type = Handle;

    std::size_t size() const noexcept { return core == nullptr ? 0 : core->dense_size(); }
    Handle operator()(std::size_t position) const noexcept {
        return Handle::from_value(core->owner_of(position));
    }

    const Core* core = nullptr;
};

/// Looks at handles and objects: at `Entry{handle, object}`.
template <class Entry, class Core>
struct look_at_entries {
    using value_type = Entry;

    std::size_t size() const noexcept { return core == nullptr ? 0 : core->dense_size(); }
    Entry operator()(std::size_t position) const noexcept {
        return Entry::of(core->owner_of(position), core->object_at(position));
    }
    bool is_alive(std::size_t position) const noexcept { return core->is_alive_at(position); }

    const Core* core = nullptr;
};

} // namespace handlepool::detail

// What the iterators need is in the pool.
template <class Look>
inline constexpr bool std::ranges::enable_borrowed_range<handlepool::detail::position_range<Look>> = true;
template <class Look>
inline constexpr bool std::ranges::enable_borrowed_range<handlepool::detail::living_range<Look>> = true;
template <class Look>
inline constexpr bool std::ranges::enable_view<handlepool::detail::position_range<Look>> = true;
template <class Look>
inline constexpr bool std::ranges::enable_view<handlepool::detail::living_range<Look>> = true;

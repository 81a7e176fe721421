// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/base/least.hpp>
#include <handlepool/detail/containers/sparse_pages.hpp>
#include <handlepool/handle.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace handlepool::detail {

/// A position among members, or none. One word, which compilers keep in a register: look-ups through a
/// std::optional take a fifth longer.
class found_position {
public:
    constexpr found_position() noexcept = default;
    explicit constexpr found_position(std::uint32_t number) noexcept : number_(number) {}

    explicit constexpr operator bool() const noexcept { return number_ != sparse_pages::none; }
    constexpr std::size_t operator*() const noexcept { return number_; }

private:
    std::uint32_t number_ = sparse_pages::none;
};

/// The members of a container that is keyed by the handles of one pool: without gaps and in no order, each
/// found by its slot. Of a slot's handles the latest that was added is a member, for the others are stale.
template <class T, class Layout>
class sparse_set {
public:
    using handle_type = handle<T, Layout>;

    void swap(sparse_set& other) noexcept {
        positions_.swap(other.positions_);
        handles_.swap(other.handles_);
    }

    /// Gets the same members in the same order, in the memory that it has where that suffices. Throws
    /// std::bad_alloc; then nothing has changed.
    void assign(const sparse_set& other) {
        handles_.reserve(other.size());
        positions_.assign(other.positions_);
        handles_ = other.handles_;
    }

    std::size_t size() const noexcept { return handles_.size(); }
    const std::vector<handle_type>& handles() const noexcept { return handles_; }
    /// The pool that they are of; nothing while there are none.
    std::optional<std::uint32_t> pool_id() const noexcept {
        return handles_.empty() ? std::nullopt : std::optional(handles_.front().pool_id());
    }

    /// The position of a member; nothing for any other handle. Constant.
    found_position find(handle_type handle) const noexcept {
        const sparse_pages::entry found = positions_[handle.index()];
        if (found.tag != handle.tag() || !Layout::fits(handle.value())) {
            return {};
        }
        return found_position(found.number); // of a slot without a member, too
    }

    /// The position of the member that has this handle's slot. Constant.
    found_position find_slot(handle_type handle) const noexcept {
        return found_position(positions_[handle.index()].number);
    }

    /// The position of the member that has this handle, or an earlier one of its slot. Constant.
    found_position find_until(handle_type handle) const noexcept {
        const sparse_pages::entry found = positions_[handle.index()];
        return found.tag > handle.tag() ? found_position() : found_position(found.number);
    }

    /// For a look-up that comes soon.
    HANDLEPOOL_ALWAYS_INLINE void prefetch(handle_type handle) const noexcept {
        positions_.prefetch(handle.index());
    }

    /// Returns whether the member of its slot is a later handle, so that this one is stale. Constant.
    bool has_later(handle_type handle) const noexcept {
        return positions_[handle.index()].tag > handle.tag();
    }
    /// Returns whether it is a member itself, or stale. Constant.
    bool has_since(handle_type handle) const noexcept {
        return positions_[handle.index()].tag >= handle.tag();
    }

    /// Adds a handle whose slot no member has, at the end. Throws std::bad_alloc; then nothing has changed.
    void add(handle_type handle) {
        positions_.reserve(handle.index());
        handles_.push_back(handle.without_user());
        set_position(handles_.size() - 1);
    }

    /// Puts the last member in the place of this one, which ends. Whoever knows its slot saves a look at it.
    void remove(std::size_t position) noexcept { remove(position, handles_[position].index()); }
    void remove(std::size_t position, std::uint64_t slot) noexcept {
        positions_.clear(slot);
        if (position + 1 != handles_.size()) {
            handles_[position] = handles_.back();
            set_position(position);
        }
        handles_.pop_back();
    }

    /// Puts a later handle of the same slot in the place of a member.
    void replace(std::size_t position, handle_type handle) noexcept {
        handles_[position] = handle.without_user();
        set_position(position);
    }

    /// Removes all.
    void clear() noexcept {
        for (const handle_type each : handles_) {
            positions_.clear(each.index());
        }
        handles_.clear();
    }

    void reserve(std::size_t count) { handles_.reserve(count); }
    void shrink_to_fit() {
        positions_.shrink_to_fit();
        handles_.shrink_to_fit();
    }
    std::size_t memory() const noexcept {
        return positions_.memory() + handles_.capacity() * sizeof(handle_type);
    }

private:
    void set_position(std::size_t position) noexcept {
        const handle_type handle = handles_[position];
        positions_.set(handle.index(), {.number = static_cast<std::uint32_t>(position), .tag = handle.tag()});
    }

    sparse_pages positions_;
    std::vector<handle_type> handles_;
};

/// Erases the members of a container for which `ends(position)` is true, and returns how many. What it calls
/// may change the container: whoever is a member all the time is asked.
template <class Container, class Ends>
std::size_t erase_members_if(Container& container, Ends ends) {
    std::size_t erased = 0;
    // From the end, where removing moves those that were asked.
    for (std::size_t i = container.size(); i != 0; i = least(i - 1, container.size())) {
        const auto each = container.handles()[i - 1];
        if (ends(i - 1) && container.erase(each)) {
            ++erased;
        }
    }
    return erased;
}

/// For one more value, which then needs no memory. Throws std::bad_alloc.
template <class Value>
void make_room(std::vector<Value>& values) {
    if (values.size() == values.capacity()) {
        values.reserve(2 * values.size() + 1);
    }
}

/// Removes a value, whose place the last one takes, as sparse_set::remove() does with its handle.
template <class Value>
void swap_and_pop(std::vector<Value>& values, std::size_t position) noexcept {
    if (position + 1 != values.size()) {
        values[position] = std::move(values.back());
    }
    values.pop_back();
}

} // namespace handlepool::detail

// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/detail/containers/pool_subscription.hpp>
#include <handlepool/detail/containers/sparse_set.hpp>
#include <handlepool/executor.hpp>
#include <handlepool/handle.hpp>
#include <handlepool/handle_container.hpp>

#include <cstddef>
#include <exception>
#include <vector>

namespace handlepool {

/// Handles of objects of one pool, without gaps and in no order; an object can be in any number of sets. A
/// sparse set (Briggs and Torczon, "An efficient representation for sparse sets"): a member is found by its
/// slot, without hashing, for 8 bytes a slot in pages of 1,024 slots, which exist where members are.
///
///     handlepool::handle_set<ship> burning;
///     burning.attach(ships);       // compactions remove the objects that they destroy
///     burning.insert(ship);
///     for (handlepool::handle<ship> each : burning) ...
///
/// See handle_container for which handles can be members and what threads may do. Tasks that find members in
/// parallel collect() them.
/// @tparam T object type, or void for handles of raw pools; columns<...> for those of rows
template <class T, class Layout = default_layout>
class handle_set : public handle_container<handle_set<T, Layout>, T, Layout> {
    using base = handle_container<handle_set, T, Layout>;
    using base::members_;

public:
    /// Types of the members, and of iterators over them.
    using typename base::handle_type;
    using value_type = handle_type;
    using difference_type = std::ptrdiff_t;
    using const_iterator = typename std::vector<handle_type>::const_iterator;
    using iterator = const_iterator;

    /// An empty set.
    handle_set() noexcept = default;

    /// A set with the same members that is not attached to a pool. Throws std::bad_alloc.
    handle_set(const handle_set&) = default;
    /// Takes over the members and the attachment; the other set is empty and detached afterwards.
    handle_set(handle_set&& other) noexcept { swap(other); }
    /// Copies or moves like the constructors; the former attachment ends. Throws std::bad_alloc when it
    /// copies; then nothing has changed.
    handle_set& operator=(handle_set other) noexcept {
        swap(other);
        return *this;
    }
    /// Detaches.
    ~handle_set() = default;

    /// Exchanges members and attachments. Constant.
    void swap(handle_set& other) noexcept { base::swap(other); }
    /// Gets the members of the other set, in the same order, in the memory that it has where that suffices.
    /// The attachment stays; while there is one, they must be living objects of that pool. Linear in the
    /// members and the pages. Throws std::bad_alloc; then nothing has changed.
    void assign(const handle_set& other) { members_.assign(other.members_); }

    // ---- Members

    /// Makes the object a member. A member with an earlier handle of the same slot is stale, and is replaced.
    /// Returns false if the object is a member already, or is stale itself: a later handle of its slot is a
    /// member, or the set is attached to a pool in which it is dead. Constant, amortized, but for the list of
    /// pages, which reaches to the highest slot. Throws std::invalid_argument for a null handle, any other
    /// that never names an object, one of another pool, and one that is reserved in the pool that the set is
    /// attached to; and std::bad_alloc. Then nothing has changed.
    bool insert(handle_type handle) {
        if (!this->can_join(handle)) {
            return false;
        }
        if (const detail::found_position rival = members_.find_slot(handle)) {
            members_.replace(*rival, handle);
        } else {
            members_.add(handle);
        }
        return true;
    }

    /// Removes a member, whose place in the order the last member takes. Returns whether it was one.
    /// Constant.
    bool erase(handle_type handle) noexcept {
        const detail::found_position position = members_.find(handle);
        if (position) {
            members_.remove(*position);
        }
        return bool(position);
    }

    /// Removes all members. Linear in them.
    void clear() noexcept { members_.clear(); }

    /// The members, in the order of handles().
    const_iterator begin() const noexcept { return members_.handles().begin(); }
    const_iterator end() const noexcept { return members_.handles().end(); }

    /// Allocates memory for `count` members, except for the pages by which they are found. Throws
    /// std::bad_alloc, std::length_error.
    void reserve(std::size_t count) { members_.reserve(count); }
    /// Frees the memory that the members don't need. Linear in pages and members. Throws std::bad_alloc; then
    /// less may be freed.
    void shrink_to_fit() { members_.shrink_to_fit(); }
    /// Bytes that the set has allocated. Linear in its pages.
    std::size_t memory() const noexcept { return members_.memory(); }

    /// Removes the members for which `predicate(handle)` is true, and returns how many it removed. Linear in
    /// the members. What the predicate throws passes through; the members that it was not asked about stay.
    /// The predicate may change the set: then it is asked about each member at least once, and perhaps about
    /// new members too.
    template <class Predicate>
    friend std::size_t erase_if(handle_set& set, Predicate predicate) {
        return detail::erase_members_if(set, [&](std::size_t i) { return predicate(set.handles()[i]); });
    }

    // ---- Many at once

    /// Inserts what parallel tasks find: calls `find(i, add)` for each i below `count`, by the executor, and
    /// inserts the handles that were passed to `add(handle)` in the order of i and of the calls, whatever the
    /// scheduler did. Returns how many were new. Each i should be a piece of work, such as a thousand
    /// objects, because it has a list of its own.
    /// Throws std::bad_alloc and what `find` throws, that of the lowest i; then nothing has changed. Also
    /// throws what insert() throws; then the handles before that one are members.
    template <class Find, executor Executor = inline_executor>
    std::size_t collect(std::size_t count, Find find, Executor&& executor = Executor()) {
        std::vector<part> parts(count);
        executor.for_ranges(count, 1, [&](std::size_t first, std::size_t last) noexcept {
            for (std::size_t i = first; i != last; ++i) {
                parts[i].error = detail::capture_exception(
                    [&] { find(i, [&found = parts[i].found](handle_type each) { found.push_back(each); }); });
            }
        });
        for (const part& each : parts) {
            if (each.error != nullptr) {
                std::rethrow_exception(each.error);
            }
        }
        std::size_t inserted = 0;
        for (const part& each : parts) {
            for (const handle_type found : each.found) {
                inserted += insert(found) ? 1U : 0U;
            }
        }
        return inserted;
    }

private:
    friend class detail::pool_subscription<handle_set>;
    friend class detail::container_contents<handle_set>;

    static constexpr const char* name = "handle_set";

    /// What one piece of work has found. Tasks share no cache line.
    struct alignas(detail::cache_line) part {
        std::vector<handle_type> found;
        std::exception_ptr error;
    };

    /// The object with this handle has ended, and with it all that had its slot before.
    template <class Pool>
    void forget(handle_type handle, const Pool&) noexcept {
        if (const detail::found_position position = members_.find_until(handle)) {
            members_.remove(*position, handle.index());
        }
    }
};

} // namespace handlepool

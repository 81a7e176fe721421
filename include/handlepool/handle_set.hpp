// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/detail/containers/pool_subscription.hpp>
#include <handlepool/detail/containers/sparse_set.hpp>
#include <handlepool/executor.hpp>
#include <handlepool/handle.hpp>

#include <concepts>
#include <cstddef>
#include <exception>
#include <span>
#include <utility>
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
/// Of the handles that a slot has had, only the latest that was inserted can be a member. Whether a member is
/// alive, its pool knows: between the erase of an object and the next compaction its handle is still a
/// member, whose look-up finds nothing. A reserved handle, which has no object yet, can be a member of a set
/// that is not attached; an attached one refuses it, because nothing would tell the set if it was cancelled.
///
/// User bits of handles are ignored, and members have none. All members are of one pool: the one that the set
/// is attached to, or that of the members that there are.
///
/// Threads: any number may read at the same time. What changes the set is for one thread alone; so are the
/// compactions of the pool that it is attached to, which change it. Tasks that find members in parallel
/// collect() them.
/// @tparam T object type, or void for handles of raw pools; columns<...> for those of rows
template <class T, class Layout = default_layout>
class handle_set {
public:
    /// Types of the members, and of their number.
    using handle_type = handle<T, Layout>;
    using value_type = handle_type;
    using size_type = std::size_t;
    using difference_type = std::ptrdiff_t;
    using const_iterator = typename std::vector<handle_type>::const_iterator;
    using iterator = const_iterator;

    /// An empty set.
    handle_set() noexcept = default;

    /// A set with the same members that is not attached to a pool. Throws std::bad_alloc.
    handle_set(const handle_set& other) : members_(other.members_) {}
    /// Takes over the members and the attachment; the other set is empty and detached afterwards.
    handle_set(handle_set&& other) noexcept
        : members_(std::move(other.members_)), link_(std::move(other.link_)) {
        link_.follow(*this);
    }
    /// Copies or moves like the constructors; the former attachment ends. Throws std::bad_alloc when it
    /// copies; then nothing has changed.
    handle_set& operator=(handle_set other) noexcept {
        swap(other);
        return *this;
    }
    /// Detaches.
    ~handle_set() = default;

    /// Exchanges members and attachments. Constant.
    void swap(handle_set& other) noexcept {
        members_.swap(other.members_);
        std::swap(link_, other.link_);
        link_.follow(*this);
        other.link_.follow(other);
    }
    friend void swap(handle_set& one, handle_set& other) noexcept { one.swap(other); }

    // ---- Members

    /// Makes the object a member. A member with an earlier handle of the same slot is stale, and is replaced.
    /// Returns false if the object is a member already, or is stale itself: a later handle of its slot is a
    /// member, or the set is attached to a pool in which it is dead. Constant, amortized, but for the list of
    /// pages, which reaches to the highest slot. Throws std::invalid_argument for a null handle, any other
    /// that never names an object, one of another pool, and one that is reserved in the pool that the set is
    /// attached to; and std::bad_alloc. Then nothing has changed.
    bool insert(handle_type handle) {
        if (!link_.admits(handle, members_.pool_id(), "handle_set")) {
            return false;
        }
        const detail::found_position rival = members_.find_slot(handle);
        if (!rival) {
            members_.add(handle);
            return true;
        }
        if (handle.tag() <= members_.handles()[*rival].tag()) {
            return false;
        }
        members_.replace(*rival, handle);
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

    /// Returns whether the object is a member. Constant.
    bool contains(handle_type handle) const noexcept { return bool(members_.find(handle)); }

    /// Removes all members. Linear in them.
    void clear() noexcept { members_.clear(); }

    /// The number of members.
    std::size_t size() const noexcept { return members_.size(); }
    bool empty() const noexcept { return size() == 0; }

    /// The members, valid until the set changes.
    std::span<const handle_type> handles() const noexcept { return members_.handles(); }
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

    // ---- Following a pool

    /// Attaches the set to a pool: objects that the pool destroys, by a compaction or otherwise, leave the
    /// set in constant time each. They do so after the hooks of on_destroy, which still find them, before
    /// their destructors, and in the order in which containers were attached. Also prunes the set now.
    /// Replaces an earlier attachment. The set and the pool may be destroyed in either order. Subject to the
    /// same rules as on_destroy() of the pool, and linear in the members. Throws std::invalid_argument if
    /// there are members of another pool, or reserved ones, and what on_destroy() throws; then nothing has
    /// changed.
    template <class Pool>
        requires std::same_as<typename Pool::handle_type, handle_type>
    void attach(Pool& pool) {
        members_.require_attachable(pool, "handle_set");
        link_.attach(pool, *this);
        prune(pool);
    }
    /// Ends the attachment: members stay until they are removed.
    void detach() noexcept { link_.detach(); }
    /// Returns whether it is attached to a pool that still exists.
    bool attached() const noexcept { return link_.attached(); }

    /// Removes the members that are stale in the pool, and returns how many it removed. Linear in the
    /// members.
    template <class Pool>
        requires std::same_as<typename Pool::handle_type, handle_type>
    std::size_t prune(const Pool& pool) noexcept {
        return erase_if(*this, [&pool](handle_type each) { return pool.state(each) == handle_state::stale; });
    }

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

    /// What one piece of work has found. Tasks share no cache line.
    struct alignas(detail::cache_line) part {
        std::vector<handle_type> found;
        std::exception_ptr error;
    };

    HANDLEPOOL_ALWAYS_INLINE void prefetch(handle_type handle) const noexcept { members_.prefetch(handle); }

    /// The object with this handle has ended, and with it all that had its slot before.
    template <class Pool>
    void forget(handle_type handle, const Pool&) noexcept {
        if (const detail::found_position position = members_.find_until(handle)) {
            members_.remove(*position, handle.index());
        }
    }

    detail::sparse_set<T, Layout> members_;
    detail::pool_subscription<handle_set> link_;
};

} // namespace handlepool

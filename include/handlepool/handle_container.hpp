// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/detail/containers/pool_subscription.hpp>
#include <handlepool/detail/containers/sparse_set.hpp>
#include <handlepool/handle.hpp>

#include <concepts>
#include <cstddef>
#include <exception>
#include <span>
#include <utility>

namespace handlepool {

namespace detail {

/// What a container has, for snapshots. Each container has its own, in saved_containers/.
template <class Container>
class container_contents;

} // namespace detail

/// The interface that handle_set, handle_map, handle_index and hierarchy share. Their *members* are objects
/// of one pool: the one that the container is attached to, or that of the members that there are.
///
/// Of the handles that a slot has had, only the latest that was inserted can be a member. Whether a member is
/// alive, its pool knows: between the erase of an object and the next compaction its handle is still a
/// member, whose look-up finds nothing. A reserved handle, which has no object yet, can be a member of a
/// container that is not attached; an attached one refuses it, because nothing would tell the container if it
/// was cancelled. User bits of handles are ignored, and members have none.
///
/// Threads: any number may read at the same time. What changes the container is for one thread alone; so are
/// the compactions of the pool that it is attached to, which change it.
/// @tparam Container the class that derives from this one
/// @tparam T object type, or void for handles of raw pools; columns<...> for those of rows
template <class Container, class T, class Layout>
class handle_container {
public:
    /// Types of the members, and of their number.
    using handle_type = handle<T, Layout>;
    using size_type = std::size_t;

    /// Exchanges all that two containers have, with their attachments. Constant.
    friend void swap(Container& one, Container& other) noexcept { one.swap(other); }

    /// Exchanges all that two containers have, but each keeps its own attachment. While it has one, the
    /// members that it gets must be living objects of that pool. Constant.
    void swap_contents(Container& other) noexcept {
        self().swap(other);
        handle_container& base = other; // whose link it is, also where the container hides that
        std::swap(link_, base.link_);
        link_.follow(self());
        base.link_.follow(other);
    }

    // ---- Members

    /// Returns whether the object is a member. Constant.
    bool contains(handle_type handle) const noexcept { return bool(members_.find(handle)); }

    /// The number of members.
    size_type size() const noexcept { return members_.size(); }
    bool empty() const noexcept { return size() == 0; }

    /// The members, in no order, valid until the container changes.
    std::span<const handle_type> handles() const noexcept { return members_.handles(); }

    // ---- Following a pool

    /// Attaches the container to a pool: objects that the pool destroys, by a compaction or otherwise, leave
    /// it in constant time each. They do so after the hooks of on_destroy, which still find them, before
    /// their destructors, and in the order in which containers were attached. Also prunes the container now.
    /// Replaces an earlier attachment. The container and the pool may be destroyed in either order. Subject
    /// to the same rules as on_destroy() of the pool, and linear in the members. Throws std::invalid_argument
    /// if there are members of another pool, or reserved ones, and what on_destroy() throws; then nothing has
    /// changed.
    template <class Pool>
        requires std::same_as<typename Pool::handle_type, handle_type>
    void attach(Pool& pool) {
        require_attachable(pool);
        link_.attach(pool, self());
        self().prune(pool);
    }
    /// Ends the attachment: members stay until they are removed.
    void detach() noexcept { link_.detach(); }
    /// Returns whether it is attached to a pool that still exists.
    bool attached() const noexcept { return link_.attached(); }

    /// Removes the members that are stale in the pool, and returns how many it removed. Linear in the
    /// members.
    template <class Pool>
        requires std::same_as<typename Pool::handle_type, handle_type>
    size_type prune(const Pool& pool) noexcept {
        return detail::erase_members_if(
            self(), [&](std::size_t i) { return pool.state(handles()[i]) == handle_state::stale; });
    }

protected:
    handle_container() noexcept = default;
    /// The copy is not attached.
    handle_container(const handle_container& other) : members_(other.members_) {}
    handle_container& operator=(const handle_container&) = delete;
    ~handle_container() = default;

    /// Exchanges members and attachments.
    void swap(handle_container& other) noexcept {
        members_.swap(other.members_);
        std::swap(link_, other.link_);
        link_.follow(self());
        other.link_.follow(other.self());
    }

    /// Calls `fill`, which gives the container what another one has. Throws what that throws; then it is
    /// empty.
    template <class Fill>
    void fill_or_clear(Fill fill) {
        if (const auto error = detail::capture_exception(fill); error != nullptr) {
            self().clear();
            std::rethrow_exception(error);
        }
    }

    /// The container that derives from this one.
    Container& self() noexcept { return static_cast<Container&>(*this); }

    /// Returns whether the object can become a member: not if it is one, or is known to be stale. Throws
    /// std::invalid_argument for a handle that is refused.
    bool can_join(handle_type handle) const {
        return link_.admits(handle, members_.pool_id()) && !members_.has_since(handle);
    }

    /// Throws std::invalid_argument if there is a member that can't be in a container attached to this pool.
    template <class Pool>
    void require_attachable(const Pool& pool) const {
        for (const handle_type each : handles()) {
            link_.require_attachable(pool, each);
        }
    }

    /// For a look-up that comes soon.
    HANDLEPOOL_ALWAYS_INLINE void prefetch(handle_type handle) const noexcept { members_.prefetch(handle); }

    /// The members, in whose order a container keeps what belongs to them; and what tells of their ends.
    detail::sparse_set<T, Layout> members_;
    detail::pool_subscription<Container> link_;
};

} // namespace handlepool

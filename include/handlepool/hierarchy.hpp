// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/detail/containers/hierarchy_walk.hpp>
#include <handlepool/detail/containers/pool_subscription.hpp>
#include <handlepool/detail/containers/sparse_set.hpp>
#include <handlepool/detail/text/message.hpp>
#include <handlepool/error.hpp>
#include <handlepool/handle.hpp>
#include <handlepool/handle_container.hpp>

#include <concepts>
#include <cstddef>
#include <iterator>
#include <optional>
#include <ranges>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace handlepool {

/// Determines what becomes of an object's children when it ends.
enum class orphans {
    become_roots, ///< they live on without a parent
    /// They are erased from the pool, with all that is below them. A child whose handle was revoked lives on,
    /// because the hierarchy has only the stale handle; what is below it is erased.
    are_erased,
};

/// Parents and children among the objects of one pool, such as a scene graph. The children of each parent lie
/// in one array, and each knows its place there, so that attaching and detaching take constant time whatever
/// their number.
///
///     handlepool::hierarchy<bone> skeleton;
///     skeleton.attach(bones);           // compactions take out whom they destroy
///     skeleton.set_parent(hand, arm);
///     for (auto child : skeleton.children(arm)) ...
///     for (auto each : skeleton.depth_first(arm)) ...
///
/// Its *nodes* are its members; those without a parent are *roots*. See handle_container for which handles
/// can be nodes and what threads may do. Spans and walks are valid until the hierarchy changes.
///
/// Attached to a pool, it removes the nodes of objects that the pool destroys: their children become roots or
/// are erased, as the constructor was told. Hooks of on_destroy are called before, and can clear the parent
/// of children that are to live. Those that are erased are dead from then on, and no nodes any more; the next
/// compaction destroys them.
/// @tparam T object type, or void for handles of raw pools; columns<...> for those of rows
template <class T, class Layout = default_layout>
class hierarchy : public handle_container<hierarchy<T, Layout>, T, Layout> {
    using base = handle_container<hierarchy, T, Layout>;
    using base::link_;
    using base::members_;

public:
    /// The type of the nodes.
    using typename base::handle_type;

    using base::contains;
    using base::handles;
    using base::size;

    /// Without nodes.
    explicit hierarchy(orphans when_parent_ends = orphans::become_roots) noexcept
        : when_parent_ends_(when_parent_ends) {}

    /// A hierarchy with the same nodes that is not attached to a pool. Throws std::bad_alloc.
    hierarchy(const hierarchy& other)
        : base(other), when_parent_ends_(other.when_parent_ends_), nodes_(other.nodes_) {
        roots_.reserve(nodes_.size());
        roots_.assign(other.roots_.begin(), other.roots_.end());
    }
    /// Takes the nodes and the attachment.
    hierarchy(hierarchy&& other) noexcept : hierarchy(other.when_parent_ends_) { swap(other); }
    /// Copies or moves like the constructors; the former attachment ends. Throws std::bad_alloc when it
    /// copies; then nothing has changed.
    hierarchy& operator=(hierarchy other) noexcept {
        swap(other);
        return *this;
    }
    /// Detaches.
    ~hierarchy() = default;

    /// Exchanges nodes, options and attachments. Constant.
    void swap(hierarchy& other) noexcept {
        base::swap(other);
        std::swap(when_parent_ends_, other.when_parent_ends_);
        nodes_.swap(other.nodes_);
        roots_.swap(other.roots_);
    }
    /// Gets the nodes of the other hierarchy in the same order, and its option, like handle_set::assign().
    /// Throws std::bad_alloc; then the hierarchy is empty.
    void assign(const hierarchy& other) {
        if (this == &other) {
            return;
        }
        this->fill_or_clear([&] {
            members_.assign(other.members_);
            roots_.reserve(other.nodes_.size());
            nodes_ = other.nodes_;
        });
        roots_.assign(other.roots_.begin(), other.roots_.end());
        when_parent_ends_ = other.when_parent_ends_;
    }

    // ---- Relations

    /// Makes the object a root. Returns false if it is a node already, or is stale itself: a later handle of
    /// its slot is a node, or the hierarchy is attached to a pool in which it is dead. A node with an earlier
    /// handle of the same slot is stale: it is removed, and its children become roots. Constant, amortized.
    /// Throws std::invalid_argument for a handle that handle_set::insert() refuses; and std::bad_alloc. Then
    /// nothing has changed, except that a stale node may be gone.
    bool insert(handle_type handle) { return this->can_join(handle) && add(handle); }

    /// Makes one object the last child of another. Both become nodes if they aren't yet, and the former
    /// parent loses the child, as by clear_parent(). Does nothing if that is its parent already. Constant,
    /// amortized; for a child that has children, which could be above its new parent, linear in the ancestors
    /// of that. Throws std::invalid_argument like insert(), also for stale handles, such as those of nodes
    /// that were erased from the pool that it is attached to; if there is no reason for that,
    /// hierarchy_cycle, which names both handles, if the parent is the child or below it; and std::bad_alloc.
    /// On failure neither node moves; an object that was no node may have become a root, and a stale node may
    /// have been removed.
    void set_parent(handle_type child, handle_type parent) {
        if (!try_set_parent(child, parent)) {
            detail::throw_exception(
                hierarchy_cycle("hierarchy: " + name_of(child) + " can't become a child of " +
                                (same(child, parent) ? "itself" : name_of(parent) + ", which is below it")));
        }
    }
    /// Like set_parent(), but returns false instead of throwing hierarchy_cycle.
    bool try_set_parent(handle_type child, handle_type parent) {
        require_current(parent, link_.admits(parent, members_.pool_id()));
        require_current(child, link_.admits(child, parent.pool_id()));
        if (same(child, parent) || (!children(child).empty() && is_below(parent, child))) {
            return false;
        }
        add(parent);
        add(child);
        require_current(parent); // of two handles of one slot, one is stale
        require_current(child);
        if (same(node_of(child).parent, parent)) {
            return true;
        }
        detail::make_room(node_of(parent).children);
        unlink(child);
        link(child, parent);
        return true;
    }

    /// Makes a child a root, with all that is below it; its last sibling takes its place among them. Returns
    /// false if it has no parent. Constant.
    bool clear_parent(handle_type child) noexcept {
        if (!parent(child)) {
            return false;
        }
        unlink(child);
        link(child, {});
        return true;
    }

    /// Removes a node, whose children become roots. Returns whether it was one. Linear in its children.
    bool erase(handle_type handle) noexcept {
        const detail::found_position position = members_.find(handle);
        if (position) {
            remove(*position);
        }
        return bool(position);
    }

    /// Erases an object from the pool with all that is below it, and removes their nodes. Returns how
    /// many of the objects were alive; 0 if the object is no node. Linear in the nodes removed.
    template <class Pool>
        requires std::same_as<typename Pool::handle_type, handle_type>
    HANDLEPOOL_ALWAYS_INLINE std::size_t erase_subtree(Pool& pool, handle_type root) noexcept {
        std::size_t erased = 0;
        // Without recursion: a hierarchy may be as deep as it is large.
        for (handle_type now = contains(root) ? root : handle_type(); now;) {
            if (const std::span<const handle_type> below = children(now); !below.empty()) {
                now = below.back();
                continue;
            }
            const handle_type up = same(now, root) ? handle_type() : parent(now);
            erased += pool.erase(now) ? 1U : 0U;
            erase(now);
            now = up;
        }
        return erased;
    }

    /// Removes all nodes. Linear.
    void clear() noexcept {
        members_.clear();
        nodes_.clear();
        roots_.clear();
    }

    // ---- Reading

    /// The nodes without a parent, in no order.
    std::span<const handle_type> roots() const noexcept { return roots_; }

    /// The parent; null for roots and for objects that are no nodes. Constant.
    handle_type parent(handle_type child) const noexcept {
        const node* const found = find(child);
        return found == nullptr ? handle_type() : found->parent;
    }
    /// The children, in the order in which they came as long as none has left; empty for an object that is no
    /// node. Constant.
    std::span<const handle_type> children(handle_type parent) const noexcept {
        const node* const found = find(parent);
        return found == nullptr ? std::span<const handle_type>() : std::span(found->children);
    }
    /// The position among the siblings, or among the roots; nothing for an object that is no node. Constant.
    std::optional<std::size_t> place(handle_type handle) const noexcept {
        const node* const found = find(handle);
        return found == nullptr ? std::nullopt : std::optional(found->place);
    }

    /// The number of ancestors. Linear in them.
    std::size_t depth(handle_type handle) const noexcept {
        std::size_t ancestors = 0;
        for (handle_type up = parent(handle); up; up = parent(up)) {
            ++ancestors;
        }
        return ancestors;
    }
    /// The root of the tree that the node is in; null for an object that is no node. Linear in its ancestors.
    handle_type root_of(handle_type handle) const noexcept {
        handle_type root = contains(handle) ? handle.without_user() : handle_type();
        for (handle_type up = parent(root); up; up = parent(up)) {
            root = up;
        }
        return root;
    }
    /// Returns whether `ancestor` is an ancestor of the node; no node is below itself. Linear in the
    /// ancestors.
    bool is_below(handle_type handle, handle_type ancestor) const noexcept {
        for (handle_type up = parent(handle); up; up = parent(up)) {
            if (same(up, ancestor)) {
                return true;
            }
        }
        return false;
    }

    // ---- Walks

    /// A node and all that is below it, each before its children: a forward range, empty for what is no node.
    /// Needs no memory; linear in the nodes, for all steps together.
    auto depth_first(handle_type root) const noexcept {
        return walk<detail::walk_order::parents_first>(root);
    }
    /// Like depth_first(), but each node comes after its children.
    auto post_order(handle_type root) const noexcept {
        return walk<detail::walk_order::children_first>(root);
    }
    /// Like depth_first(), but each node comes after all that are nearer to the root. Throws std::bad_alloc.
    std::vector<handle_type> breadth_first(handle_type root) const {
        std::vector<handle_type> order;
        if (contains(root)) {
            order.push_back(root.without_user());
        }
        for (std::size_t i = 0; i != order.size(); ++i) {
            const std::span<const handle_type> below = children(order[i]);
            order.insert(order.end(), below.begin(), below.end());
        }
        return order;
    }

    // ---- Following a pool

    /// Removes the nodes that are stale in the pool, as a compaction does, with the children that end with
    /// them. Returns how many. Linear.
    template <class Pool>
        requires std::same_as<typename Pool::handle_type, handle_type>
    std::size_t prune(Pool& pool) noexcept {
        const std::size_t before = size();
        detail::erase_members_if(*this, [&](std::size_t i) {
            if (pool.state(handles()[i]) == handle_state::stale) {
                forget(handles()[i], pool);
            }
            return false; // nothing is left to erase
        });
        return before - size();
    }

    // ---- Memory

    /// Frees the memory that the nodes don't need. Linear. Throws std::bad_alloc; then less may be freed.
    void shrink_to_fit() {
        members_.shrink_to_fit();
        nodes_.shrink_to_fit();
        std::vector<handle_type> fewer;
        fewer.reserve(nodes_.size());
        fewer.assign(roots_.begin(), roots_.end());
        roots_.swap(fewer);
        for (node& each : nodes_) {
            each.children.shrink_to_fit();
        }
    }
    /// Bytes that the hierarchy has allocated. Linear.
    std::size_t memory() const noexcept {
        std::size_t bytes =
            members_.memory() + nodes_.capacity() * sizeof(node) + roots_.capacity() * sizeof(handle_type);
        for (const node& each : nodes_) {
            bytes += each.children.capacity() * sizeof(handle_type);
        }
        return bytes;
    }

private:
    friend class detail::pool_subscription<hierarchy>;
    friend class detail::container_contents<hierarchy>;

    static constexpr const char* name = "hierarchy";

    struct node {
        handle_type parent = {};
        std::size_t place = 0; // among the parent's children, or among the roots
        std::vector<handle_type> children = {};
    };

    static bool same(handle_type one, handle_type other) noexcept {
        return one.without_user() == other.without_user();
    }
    static std::string name_of(handle_type handle) {
        return detail::name_of_handle(handle.index(), handle.generation());
    }

    node& node_of(handle_type handle) noexcept { return nodes_[*members_.find(handle)]; }
    const node* find(handle_type handle) const noexcept {
        const detail::found_position position = members_.find(handle);
        return position ? &nodes_[*position] : nullptr;
    }

    /// Throws std::invalid_argument for a handle that is stale.
    void require_current(handle_type handle, bool may_be_alive = true) const {
        if (!may_be_alive || members_.has_later(handle)) {
            detail::throw_exception(std::invalid_argument("hierarchy: " + name_of(handle) +
                                                          " is stale, and can't become a child or a parent"));
        }
    }

    /// Makes the object a root, unless it is a node, or stale. Returns whether it did.
    bool add(handle_type handle) {
        if (members_.has_since(handle)) {
            return false;
        }
        detail::make_room(nodes_);
        members_.reserve(nodes_.capacity());
        roots_.reserve(nodes_.capacity());
        if (const detail::found_position rival = members_.find_slot(handle)) {
            remove(*rival);
        }
        members_.add(handle);
        nodes_.emplace_back();
        link(handle, {});
        return true;
    }

    std::vector<handle_type>& children_or_roots(handle_type parent) noexcept {
        return parent ? node_of(parent).children : roots_;
    }
    /// Makes the node the last child of a parent, or of the null handle a root.
    void link(handle_type handle, handle_type parent) noexcept {
        std::vector<handle_type>& siblings = children_or_roots(parent);
        node& linked = node_of(handle);
        linked.parent = parent.without_user();
        linked.place = siblings.size();
        siblings.push_back(handle.without_user());
    }
    /// The last of the siblings takes the node's place.
    void unlink(handle_type handle) noexcept {
        const node& leaving = node_of(handle);
        std::vector<handle_type>& siblings = children_or_roots(leaving.parent);
        siblings[leaving.place] = siblings.back();
        node_of(siblings.back()).place = leaving.place;
        siblings.pop_back();
    }

    void remove(std::size_t position) noexcept {
        unlink(handles()[position]);
        for (const handle_type child : nodes_[position].children) {
            link(child, {});
        }
        members_.remove(position);
        detail::swap_and_pop(nodes_, position);
    }

    /// The object with this handle has ended, whose node may have an earlier one.
    template <class Pool>
    void forget(handle_type handle, Pool& pool) noexcept {
        const detail::found_position position = members_.find_until(handle);
        if (position && when_parent_ends_ == orphans::are_erased && !link_.spares_others()) {
            erase_subtree(pool, handles()[*position]);
        } else if (position) {
            remove(*position);
        }
    }

    template <detail::walk_order Order>
    auto walk(handle_type root) const noexcept {
        using iterator = detail::hierarchy_walk<hierarchy, Order>;
        return std::ranges::subrange(contains(root) ? iterator(*this, root.without_user()) : iterator(),
                                     std::default_sentinel);
    }

    orphans when_parent_ends_;
    std::vector<node> nodes_;        // of the members, in their order
    std::vector<handle_type> roots_; // with room for all nodes, so that the end of a parent needs no memory
};

} // namespace handlepool

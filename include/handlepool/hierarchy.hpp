// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/base/least.hpp>
#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/detail/containers/hierarchy_walk.hpp>
#include <handlepool/detail/containers/pool_subscription.hpp>
#include <handlepool/detail/containers/sparse_set.hpp>
#include <handlepool/detail/text/message.hpp>
#include <handlepool/error.hpp>
#include <handlepool/handle.hpp>

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
/// Its *nodes* are the handles that were inserted or attached; those without a parent are *roots*. Which
/// handles can be nodes, and what threads may do: as handle_set says. Between the erase of an object and the
/// next compaction, its node stays where it is. Spans and walks are valid until the hierarchy changes.
/// @tparam T object type, or void for handles of raw pools; columns<...> for those of rows
template <class T, class Layout = default_layout>
class hierarchy {
public:
    /// Types of the members, and of their number.
    using handle_type = handle<T, Layout>;
    using size_type = std::size_t;

    /// Without nodes.
    explicit hierarchy(orphans when_parent_ends = orphans::become_roots) noexcept
        : when_parent_ends_(when_parent_ends) {}

    /// A hierarchy with the same nodes that is not attached to a pool. Throws std::bad_alloc.
    hierarchy(const hierarchy& other)
        : when_parent_ends_(other.when_parent_ends_), members_(other.members_), nodes_(other.nodes_) {
        roots_.reserve(nodes_.size()); // as make_room_for_node() says
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
        std::swap(when_parent_ends_, other.when_parent_ends_);
        members_.swap(other.members_);
        nodes_.swap(other.nodes_);
        roots_.swap(other.roots_);
        std::swap(link_, other.link_);
        link_.follow(*this);
        other.link_.follow(other);
    }
    friend void swap(hierarchy& one, hierarchy& other) noexcept { one.swap(other); }

    // ---- Relations

    /// Makes the object a root. Returns false if it is a node already, or is stale itself: a later handle of
    /// its slot is a node, or the hierarchy is attached to a pool in which it is dead. A node with an earlier
    /// handle of the same slot is stale: it is removed, and its children become roots. Constant, amortized.
    /// Throws std::invalid_argument for a handle that handle_set::insert() refuses; and std::bad_alloc. Then
    /// nothing has changed, except that a stale node may be gone.
    bool insert(handle_type handle) {
        if (!is_current(handle) || contains(handle)) {
            return false;
        }
        make_room_for_node();
        const detail::found_position rival = members_.find_slot(handle);
        if (rival) {
            remove(*rival);
        }
        members_.add(handle);
        nodes_.emplace_back();
        become_root(handle);
        return true;
    }

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
        require_current(parent);
        require_current(child);
        if (same(child, parent) || (!children(child).empty() && is_below(parent, child))) {
            return false;
        }
        insert(parent);
        insert(child);
        require_current(parent); // unless each is current without the other, of the same slot
        require_current(child);
        if (same(node_of(child).parent, parent)) {
            return true;
        }
        std::vector<handle_type>& siblings = node_of(parent).children;
        detail::make_room(siblings);
        leave_siblings(child);
        node& moved = node_of(child);
        moved.parent = parent.without_user();
        moved.place = siblings.size();
        siblings.push_back(child.without_user());
        return true;
    }

    /// Makes a child a root, with all that is below it; its last sibling takes its place among them. Returns
    /// false if it has no parent. Constant.
    bool clear_parent(handle_type child) noexcept {
        if (!parent(child)) {
            return false;
        }
        leave_siblings(child);
        become_root(child);
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
    std::size_t erase_subtree(Pool& pool, handle_type root) noexcept {
        return contains(root) ? erase_from(pool, root) : 0;
    }

    /// Removes all nodes. Linear.
    void clear() noexcept {
        members_.clear();
        nodes_.clear();
        roots_.clear();
    }

    // ---- Reading

    /// Returns whether the object is a node. Constant.
    bool contains(handle_type handle) const noexcept { return bool(members_.find(handle)); }
    /// The number of nodes.
    std::size_t size() const noexcept { return members_.size(); }
    bool empty() const noexcept { return size() == 0; }
    /// All nodes, in no order.
    std::span<const handle_type> handles() const noexcept { return members_.handles(); }
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
        return walk_of<detail::parents_first<hierarchy>>(root);
    }
    /// Like depth_first(), but each node comes after its children.
    auto post_order(handle_type root) const noexcept {
        return walk_of<detail::children_first<hierarchy>>(root);
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

    // ---- The dead

    /// From here on, the pool's compactions remove the nodes of objects that they destroy: their children
    /// become roots or are erased, as the constructor was told. Hooks of on_destroy are called before, and
    /// can detach() children from what ends. Those that are erased are dead from then on, and removed here;
    /// the next compaction destroys them. Prunes the hierarchy now. Replaces an attachment. Either may end
    /// first. Like on_destroy() of the pool, and linear in the nodes. Throws std::invalid_argument if there
    /// are nodes of another pool, or reserved ones, and what on_destroy() throws; then nothing has changed.
    template <class Pool>
        requires std::same_as<typename Pool::handle_type, handle_type>
    void attach(Pool& pool) {
        members_.require_attachable(pool, "hierarchy");
        link_.attach(pool, *this);
        prune(pool);
    }
    /// From here on, nodes stay until they are removed.
    void detach() noexcept { link_.detach(); }
    /// Returns whether it is attached to a pool that still exists.
    bool attached() const noexcept { return link_.attached(); }

    /// Removes the nodes that are stale in the pool, as a compaction does. Returns how many. Linear.
    template <class Pool>
        requires std::same_as<typename Pool::handle_type, handle_type>
    std::size_t prune(Pool& pool) noexcept {
        const std::size_t before = size();
        for (std::size_t i = before; i != 0;) {
            --i;
            const handle_type each = handles()[i];
            if (pool.state(each) == handle_state::stale) {
                end(each, pool); // and with it others, whose places go to those after i
                i = detail::least(i, size());
            }
        }
        return before - size();
    }

    /// Frees the memory that the nodes don't need. Linear. Throws std::bad_alloc; then less may be freed.
    void shrink_to_fit() {
        members_.shrink_to_fit();
        nodes_.shrink_to_fit();
        std::vector<handle_type> fewer;
        fewer.reserve(nodes_.size()); // as make_room_for_node() says
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

    node& node_at(std::size_t position) noexcept { return nodes_[position]; }
    node& node_of(handle_type handle) noexcept { return nodes_[*members_.find(handle)]; }
    const node* find(handle_type handle) const noexcept {
        const detail::found_position position = members_.find(handle);
        return position ? &nodes_[*position] : nullptr;
    }

    /// Returns whether the object is a node or can become one, and is not known to be stale. Throws
    /// std::invalid_argument for a handle that is refused.
    bool is_current(handle_type handle) const {
        return link_.admits(handle, members_.pool_id(), "hierarchy") && !members_.has_later(handle);
    }
    void require_current(handle_type handle) const {
        if (!is_current(handle)) {
            detail::throw_exception(std::invalid_argument("hierarchy: " + name_of(handle) +
                                                          " is stale, and can't become a child or a parent"));
        }
    }

    /// For the roots as many as there are nodes, so that no node's end needs memory.
    void make_room_for_node() {
        detail::make_room(nodes_);
        members_.reserve(nodes_.capacity());
        roots_.reserve(nodes_.capacity());
    }

    /// The last of the siblings takes the node's place.
    void leave_siblings(handle_type handle) noexcept {
        const node& leaving = node_of(handle);
        std::vector<handle_type>& siblings = leaving.parent ? node_of(leaving.parent).children : roots_;
        siblings[leaving.place] = siblings.back();
        node_of(siblings.back()).place = leaving.place;
        siblings.pop_back();
    }
    void become_root(handle_type handle) noexcept {
        node& alone = node_of(handle);
        alone.parent = {};
        alone.place = roots_.size();
        roots_.push_back(handle.without_user());
    }

    void remove(std::size_t position) noexcept {
        leave_siblings(handles()[position]);
        for (const handle_type child : node_at(position).children) {
            become_root(child);
        }
        members_.remove(position);
        if (position + 1 != nodes_.size()) {
            nodes_[position] = std::move(nodes_.back());
        }
        nodes_.pop_back();
    }

    /// Without recursion: a hierarchy may be as deep as it is large.
    template <class Pool>
    std::size_t erase_from(Pool& pool, handle_type root) noexcept {
        std::size_t erased = 0;
        for (handle_type now = root;;) {
            const std::span<const handle_type> below = children(now);
            if (!below.empty()) {
                now = below.back();
                continue;
            }
            const handle_type up = parent(now);
            erased += pool.erase(now) ? 1U : 0U;
            erase(now);
            if (same(now, root)) {
                return erased;
            }
            now = up;
        }
    }

    HANDLEPOOL_ALWAYS_INLINE void prefetch(handle_type handle) const noexcept { members_.prefetch(handle); }

    /// The object of the node has ended.
    template <class Pool>
    void end(handle_type handle, Pool& pool) noexcept {
        if (when_parent_ends_ == orphans::are_erased) {
            erase_from(pool, handle);
        } else {
            erase(handle);
        }
    }
    template <class Pool>
    void forget(handle_type handle, Pool& pool) noexcept {
        if (const detail::found_position position = members_.find_until(handle)) {
            end(handles()[*position], pool);
        }
    }

    template <class Walk>
    auto walk_of(handle_type root) const noexcept {
        return std::ranges::subrange(contains(root) ? Walk(*this, root.without_user()) : Walk(),
                                     std::default_sentinel);
    }

    orphans when_parent_ends_;
    detail::sparse_set<T, Layout> members_;
    std::vector<node> nodes_; // of the members, in their order
    std::vector<handle_type> roots_;
    detail::pool_subscription<hierarchy> link_;
};

} // namespace handlepool

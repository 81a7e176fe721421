// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <iterator>

namespace handlepool::detail {

/// Which comes first: each node, or all of its children.
enum class walk_order { parents_first, children_first };

/// Iterates over a node of a hierarchy and all that is below it. Keeps no path: each child knows its place
/// among its siblings, so that the next one is found from there. A null handle is the end.
template <class Hierarchy, walk_order Order>
class hierarchy_walk {
public:
    using value_type = typename Hierarchy::handle_type;
    using difference_type = std::ptrdiff_t;
    using reference = value_type;
    using iterator_concept = std::forward_iterator_tag;
    using iterator_category = std::input_iterator_tag; // its reference is a value

    hierarchy_walk() noexcept = default;
    hierarchy_walk(const Hierarchy& nodes, value_type root) noexcept
        : nodes_(&nodes), root_(root), now_(root) {
        if constexpr (Order == walk_order::children_first) {
            now_ = lowest(root);
        }
    }

    value_type operator*() const noexcept { return now_; }
    hierarchy_walk& operator++() noexcept {
        now_ = Order == walk_order::parents_first ? after_parent(now_) : after_children(now_);
        return *this;
    }
    hierarchy_walk operator++(int) noexcept {
        const hierarchy_walk before = *this;
        ++*this;
        return before;
    }

    friend bool operator==(const hierarchy_walk& one, const hierarchy_walk& other) noexcept {
        return one.now_ == other.now_;
    }
    friend bool operator==(const hierarchy_walk& one, std::default_sentinel_t) noexcept { return !one.now_; }

private:
    value_type first_child(value_type parent) const noexcept {
        const auto children = nodes_->children(parent);
        return children.empty() ? value_type() : children.front();
    }
    value_type next_sibling(value_type child) const noexcept {
        const auto siblings = nodes_->children(nodes_->parent(child));
        const std::size_t next = *nodes_->place(child) + 1;
        return next < siblings.size() ? siblings[next] : value_type();
    }
    value_type lowest(value_type below) const noexcept {
        for (value_type child = first_child(below); child; child = first_child(below)) {
            below = child;
        }
        return below;
    }

    value_type after_parent(value_type parent) const noexcept {
        value_type next = first_child(parent);
        for (value_type up = parent; !next && up != root_; up = nodes_->parent(up)) {
            next = next_sibling(up);
        }
        return next;
    }
    value_type after_children(value_type parent) const noexcept {
        if (parent == root_) {
            return {};
        }
        const value_type next = next_sibling(parent);
        return next ? lowest(next) : nodes_->parent(parent);
    }

    const Hierarchy* nodes_ = nullptr;
    value_type root_;
    value_type now_;
};

} // namespace handlepool::detail

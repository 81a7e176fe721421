// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <iterator>

namespace handlepool::detail {

/// Iterators over a node of a hierarchy and all that is below it. They keep no path: each child knows its
/// place among its siblings, so that the next one is found from there. A null handle is the end.
template <class Hierarchy>
class hierarchy_walk {
public:
    using value_type = typename Hierarchy::handle_type;
    using difference_type = std::ptrdiff_t;
    using reference = value_type;
    using iterator_concept = std::forward_iterator_tag;
    using iterator_category = std::input_iterator_tag; // its reference is a value

    value_type operator*() const noexcept { return now_; }

    friend bool operator==(const hierarchy_walk& one, const hierarchy_walk& other) noexcept {
        return one.now_ == other.now_;
    }
    friend bool operator==(const hierarchy_walk& one, std::default_sentinel_t) noexcept { return !one.now_; }

protected:
    hierarchy_walk() noexcept = default;
    hierarchy_walk(const Hierarchy& nodes, value_type root, value_type first) noexcept
        : nodes_(&nodes), root_(root), now_(first) {}

    value_type first_child(value_type parent) const noexcept {
        const auto children = nodes_->children(parent);
        return children.empty() ? value_type() : children.front();
    }
    value_type next_sibling(value_type child) const noexcept {
        const auto siblings = nodes_->children(nodes_->parent(child));
        const std::size_t next = *nodes_->place(child) + 1;
        return next < siblings.size() ? siblings[next] : value_type();
    }

    const Hierarchy* nodes_ = nullptr;
    value_type root_;
    value_type now_;
};

/// Each node before its children.
template <class Hierarchy>
class parents_first : public hierarchy_walk<Hierarchy> {
public:
    using typename hierarchy_walk<Hierarchy>::value_type;

    parents_first() noexcept = default;
    parents_first(const Hierarchy& nodes, value_type root) noexcept
        : hierarchy_walk<Hierarchy>(nodes, root, root) {}

    parents_first& operator++() noexcept {
        value_type next = this->first_child(this->now_);
        for (value_type up = this->now_; !next && up != this->root_; up = this->nodes_->parent(up)) {
            next = this->next_sibling(up);
        }
        this->now_ = next;
        return *this;
    }
    parents_first operator++(int) noexcept {
        const parents_first before = *this;
        ++*this;
        return before;
    }
};

/// Each node after its children.
template <class Hierarchy>
class children_first : public hierarchy_walk<Hierarchy> {
public:
    using typename hierarchy_walk<Hierarchy>::value_type;

    children_first() noexcept = default;
    children_first(const Hierarchy& nodes, value_type root) noexcept
        : hierarchy_walk<Hierarchy>(nodes, root, root) {
        this->now_ = lowest(root);
    }

    children_first& operator++() noexcept {
        if (this->now_ == this->root_) {
            this->now_ = {};
            return *this;
        }
        const value_type next = this->next_sibling(this->now_);
        this->now_ = next ? lowest(next) : this->nodes_->parent(this->now_);
        return *this;
    }
    children_first operator++(int) noexcept {
        const children_first before = *this;
        ++*this;
        return before;
    }

private:
    value_type lowest(value_type below) const noexcept {
        for (value_type child = this->first_child(below); child; child = this->first_child(below)) {
            below = child;
        }
        return below;
    }
};

} // namespace handlepool::detail

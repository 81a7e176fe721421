// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/detail/containers/pool_subscription.hpp>
#include <handlepool/detail/containers/sparse_set.hpp>
#include <handlepool/detail/text/message.hpp>
#include <handlepool/handle.hpp>

#include <concepts>
#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace handlepool {

/// A value for each of some objects of one pool: a handle_set with values, also called a secondary map. The
/// values lie without gaps, in the order of the handles; a look-up reads two words beside its value, and
/// hashes nothing.
///
///     handlepool::handle_map<ship, cargo> cargoes;
///     cargoes.attach(ships);
///     cargoes.try_emplace(ship, 300, "ore");
///     if (cargo* loaded = cargoes.find(ship)) ...
///
/// Which handles can be members, and what threads may do, is the same as for a handle_set. Pointers to values
/// hold until a member is added or removed. Values are made before the map changes, and end when it has
/// changed: their constructors and destructors may use it, add and remove members. A constructor may
/// therefore change whether the handle can be a member, so the map asks again once the value is made.
/// @tparam T object type, or void for handles of raw pools; columns<...> for those of rows
/// @tparam V value type, which can be moved and assigned. Not bool: a set says as much
template <class T, class V, class Layout = default_layout>
class handle_map {
    static_assert(std::is_object_v<V> && !std::is_const_v<V>);
    static_assert(!std::is_same_v<V, bool>, "handle_map<T, bool>: use a handle_set, or std::uint8_t");
    static_assert(std::is_nothrow_move_constructible_v<V> && std::is_nothrow_move_assignable_v<V>,
                  "handle_map moves its values when others are added and removed; that must not throw");

public:
    /// Types of the members, and of their number.
    using handle_type = handle<T, Layout>;
    using mapped_type = V;
    using size_type = std::size_t;

    /// An empty map.
    handle_map() noexcept = default;

    /// A map with the same members and copies of their values that is not attached to a pool. Throws
    /// std::bad_alloc, and what copying a value throws.
    handle_map(const handle_map& other)
        requires std::copy_constructible<V>
        : members_(other.members_), values_(other.values_) {}
    /// Takes over members, values and attachment; the other map is empty and detached afterwards.
    handle_map(handle_map&& other) noexcept
        : members_(std::move(other.members_)),
          values_(std::exchange(other.values_, {})),
          link_(std::move(other.link_)) {
        link_.follow(*this);
    }
    /// Copies or moves like the constructors; the former attachment ends. Throws what the copy constructor
    /// throws; then nothing has changed.
    handle_map& operator=(const handle_map& other)
        requires std::copy_constructible<V>
    {
        handle_map copy(other);
        swap(copy);
        return *this;
    }
    handle_map& operator=(handle_map&& other) noexcept {
        handle_map taken(std::move(other));
        swap(taken);
        return *this;
    }
    /// Detaches, after the values have ended.
    ~handle_map() {
        while (!empty()) { // again if values make others at their end
            clear();
        }
    }

    /// Exchanges members, values and attachments. Constant.
    void swap(handle_map& other) noexcept {
        members_.swap(other.members_);
        values_.swap(other.values_);
        std::swap(link_, other.link_);
        link_.follow(*this);
        other.link_.follow(other);
    }
    friend void swap(handle_map& one, handle_map& other) noexcept { one.swap(other); }

    // ---- Members

    /// What an insertion did.
    struct insertion {
        V* value;      ///< the member's; null if the handle is stale, as for handle_set::insert()
        bool inserted; ///< by this call
    };

    /// Makes the object a member, with a value made from the arguments, unless it is one already. A member
    /// with an earlier handle of the same slot is stale, and is replaced. Constant, amortized, like
    /// handle_set::insert(). Throws
    /// std::invalid_argument for a handle that handle_set::insert() refuses; std::bad_alloc, and what the
    /// constructor throws. Then nothing has changed, but for what the constructor did.
    template <class... Args>
        requires std::constructible_from<V, Args...>
    insertion try_emplace(handle_type handle, Args&&... args) {
        if (!can_join(handle)) {
            return {find(handle), false};
        }
        V value(std::forward<Args>(args)...);
        return can_join(handle) ? add(handle, std::move(value)) : insertion{find(handle), false};
    }

    /// Like try_emplace(), but an object that is a member already gets the new value in place of its own.
    template <class Value>
        requires std::constructible_from<V, Value>
    insertion insert_or_assign(handle_type handle, Value&& value) {
        if (!contains(handle) && !can_join(handle)) {
            return {nullptr, false};
        }
        V made(std::forward<Value>(value));
        if (V* const member = find(handle)) {
            static_cast<void>(std::exchange(*member, std::move(made)));
            return {find(handle), false};
        }
        return try_emplace(handle, std::move(made));
    }

    /// Removes a member with its value; the last member takes its place in the order. Returns whether it was
    /// one. Constant.
    bool erase(handle_type handle) noexcept {
        const detail::found_position position = members_.find(handle);
        if (position) {
            static_cast<void>(take(*position));
        }
        return bool(position);
    }

    /// Returns whether the object is a member. Constant.
    bool contains(handle_type handle) const noexcept { return bool(members_.find(handle)); }

    /// The member's value; null if the object is no member. Constant.
    V* find(handle_type handle) noexcept {
        const detail::found_position position = members_.find(handle);
        return position ? &values_[*position] : nullptr;
    }
    const V* find(handle_type handle) const noexcept {
        const detail::found_position position = members_.find(handle);
        return position ? &values_[*position] : nullptr;
    }

    /// The member's value. Constant. Throws std::out_of_range if the object is no member.
    V& at(handle_type handle) {
        require_member(handle);
        return *find(handle);
    }
    const V& at(handle_type handle) const {
        require_member(handle);
        return *find(handle);
    }

    /// Removes all members. Linear in them.
    void clear() noexcept {
        std::vector<V> ended = std::exchange(values_, {});
        members_.clear();
        ended.clear();
        if (values_.capacity() == 0) {
            values_.swap(ended); // the memory stays, as a vector's does
        }
    }

    /// The number of members.
    std::size_t size() const noexcept { return members_.size(); }
    bool empty() const noexcept { return size() == 0; }

    /// Members and their values, in the same order, valid until a member is added or removed.
    std::span<const handle_type> handles() const noexcept { return members_.handles(); }
    std::span<V> values() noexcept { return values_; }
    std::span<const V> values() const noexcept { return values_; }

    /// Calls `visit(handle, value)` for each member. One that removes members may miss those that take their
    /// places: erase_if() is for that.
    template <class Visit>
    void for_each(Visit visit) {
        for (std::size_t i = 0; i < size(); ++i) {
            visit(members_.handles()[i], values_[i]);
        }
    }
    template <class Visit>
    void for_each(Visit visit) const {
        for (std::size_t i = 0; i < size(); ++i) {
            visit(members_.handles()[i], values_[i]);
        }
    }

    /// Allocates memory for `count` members, except for the pages by which they are found. Throws
    /// std::bad_alloc, std::length_error.
    void reserve(std::size_t count) {
        members_.reserve(count);
        values_.reserve(count);
    }
    /// Frees the memory that the members don't need. Linear in pages and members. Throws std::bad_alloc; then
    /// less may be freed.
    void shrink_to_fit() {
        members_.shrink_to_fit();
        values_.shrink_to_fit();
    }
    /// Bytes that the map has allocated, without those of its values. Linear in its pages.
    std::size_t memory() const noexcept { return members_.memory() + values_.capacity() * sizeof(V); }

    // ---- Following a pool

    /// These do for members what handle_set::attach(), detach(), attached() and prune() do. Values are
    /// destroyed by the compaction, after the hooks of on_destroy were called for their object; their
    /// destructors must not throw.
    template <class Pool>
        requires std::same_as<typename Pool::handle_type, handle_type>
    void attach(Pool& pool) {
        members_.require_attachable(pool, "handle_map");
        link_.attach(pool, *this);
        prune(pool);
    }
    void detach() noexcept { link_.detach(); }
    bool attached() const noexcept { return link_.attached(); }
    template <class Pool>
        requires std::same_as<typename Pool::handle_type, handle_type>
    std::size_t prune(const Pool& pool) noexcept {
        return erase_if(
            *this, [&pool](handle_type each, const V&) { return pool.state(each) == handle_state::stale; });
    }

    /// Removes the members for which `predicate(handle, value)` is true. Returns how many it removed.
    /// Linear in the members. What the predicate throws passes through; the members that it was not asked
    /// about stay. The predicate may change the map, as erase_if of a handle_set allows.
    template <class Predicate>
    friend std::size_t erase_if(handle_map& map, Predicate predicate) {
        return detail::erase_members_if(
            map, [&](std::size_t i) { return predicate(map.handles()[i], map.values_[i]); });
    }

private:
    friend class detail::pool_subscription<handle_map>;

    HANDLEPOOL_ALWAYS_INLINE void prefetch(handle_type handle) const noexcept { members_.prefetch(handle); }

    template <class Pool>
    void forget(handle_type handle, const Pool&) noexcept {
        if (const detail::found_position position = members_.find_until(handle)) {
            static_cast<void>(take(*position));
        }
    }

    /// Can it become a member? A value's constructor may change the map and its pool, and so the answer.
    /// Throws std::invalid_argument for a handle that is refused.
    bool can_join(handle_type handle) const {
        return link_.admits(handle, members_.pool_id(), "handle_map") && !contains(handle) &&
               !members_.has_later(handle);
    }

    /// Makes a member of a handle that can become one. The value of one that is replaced ends when the map is
    /// whole.
    insertion add(handle_type handle, V value) {
        if (const detail::found_position rival = members_.find_slot(handle)) {
            members_.replace(*rival, handle);
            static_cast<void>(std::exchange(values_[*rival], std::move(value)));
            return {find(handle), true};
        }
        detail::make_room(values_);
        members_.add(handle);
        values_.push_back(std::move(value));
        return {&values_.back(), true};
    }

    /// Removes a member, and returns its value, which ends when the map is whole.
    V take(std::size_t position) noexcept {
        V taken = std::move(values_[position]);
        members_.remove(position);
        if (position + 1 != values_.size()) {
            values_[position] = std::move(values_.back());
        }
        values_.pop_back();
        return taken;
    }

    void require_member(handle_type handle) const {
        if (!contains(handle)) {
            detail::throw_exception(std::out_of_range(
                "handle_map: " + detail::name_of_handle(handle.index(), handle.generation()) +
                " is no member"));
        }
    }

    detail::sparse_set<T, Layout> members_;
    std::vector<V> values_; // of the members, in their order
    detail::pool_subscription<handle_map> link_;
};

} // namespace handlepool

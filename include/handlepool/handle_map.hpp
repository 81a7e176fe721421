// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/detail/containers/pool_subscription.hpp>
#include <handlepool/detail/containers/sparse_set.hpp>
#include <handlepool/detail/text/message.hpp>
#include <handlepool/handle.hpp>
#include <handlepool/handle_container.hpp>

#include <concepts>
#include <cstddef>
#include <memory>
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
/// See handle_container for which handles can be members and what threads may do. Pointers to values hold
/// until a member is added or removed. Values are made before the map changes, and end when it has changed:
/// their constructors and destructors may use it, add and remove members. A constructor may therefore change
/// whether the handle can be a member, so the map asks again once the value is made. Destructors must not
/// throw; a compaction of the pool that the map is attached to calls them after the hooks of on_destroy for
/// their object.
///
/// There is no collect(): tasks that find members in parallel collect handles into a handle_set, in whose
/// order the values are then made.
/// @tparam T object type, or void for handles of raw pools; columns<...> for those of rows
/// @tparam V value type, which can be moved and assigned. Not bool: a set says as much
template <class T, class V, class Layout = default_layout>
class handle_map : public handle_container<handle_map<T, V, Layout>, T, Layout> {
    using base = handle_container<handle_map, T, Layout>;
    using base::can_join;
    using base::members_;

    static_assert(std::is_object_v<V> && !std::is_const_v<V>);
    static_assert(!std::is_same_v<V, bool>, "handle_map<T, bool>: use a handle_set, or std::uint8_t");
    static_assert(std::is_nothrow_move_constructible_v<V> && std::is_nothrow_move_assignable_v<V>,
                  "handle_map moves its values when others are added and removed; that must not throw");

public:
    /// Types of the members and of their values.
    using typename base::handle_type;
    using mapped_type = V;

    using base::contains;
    using base::empty;
    using base::size;

    /// An empty map.
    handle_map() noexcept = default;

    /// A map with the same members and copies of their values that is not attached to a pool. Throws
    /// std::bad_alloc, and what copying a value throws.
    handle_map(const handle_map&)
        requires std::copy_constructible<V>
    = default;
    /// Takes over members, values and attachment; the other map is empty and detached afterwards.
    handle_map(handle_map&& other) noexcept { swap(other); }
    /// Copies or moves like the constructors; the former attachment ends. Throws what the copy constructor
    /// throws; then nothing has changed.
    handle_map& operator=(handle_map other) noexcept {
        swap(other);
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
        base::swap(other);
        values_.swap(other.values_);
    }
    /// Gets the members of the other map and copies of their values, like handle_set::assign(); values that
    /// can be assigned are. These must not use the map meanwhile. Throws std::bad_alloc, and what copying a
    /// value throws; then the map is empty.
    void assign(const handle_map& other)
        requires std::copy_constructible<V>
    {
        this->fill_or_clear([&] {
            members_.assign(other.members_);
            if constexpr (std::is_copy_assignable_v<V>) {
                values_ = other.values_;
            } else {
                values_ = std::vector<V>(other.values_);
            }
        });
    }

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

    /// The member's value; null if the object is no member. Constant.
    V* find(handle_type handle) noexcept {
        const detail::found_position position = members_.find(handle);
        return position ? std::addressof(values_[*position]) : nullptr;
    }
    const V* find(handle_type handle) const noexcept {
        const detail::found_position position = members_.find(handle);
        return position ? std::addressof(values_[*position]) : nullptr;
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

    /// The values, in the order of handles(), valid until a member is added or removed.
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
    friend class detail::container_contents<handle_map>;

    static constexpr const char* name = "handle_map";

    template <class Pool>
    void forget(handle_type handle, const Pool&) noexcept {
        if (const detail::found_position position = members_.find_until(handle)) {
            static_cast<void>(take(*position));
        }
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
        return {std::addressof(values_.back()), true};
    }

    /// Removes a member, and returns its value, which ends when the map is whole.
    V take(std::size_t position) noexcept {
        V taken = std::move(values_[position]);
        members_.remove(position);
        detail::swap_and_pop(values_, position);
        return taken;
    }

    void require_member(handle_type handle) const {
        if (!contains(handle)) {
            detail::throw_exception(std::out_of_range(
                "handle_map: " + detail::name_of_handle(handle.index(), handle.generation()) +
                " is no member"));
        }
    }

    std::vector<V> values_; // of the members, in their order
};

} // namespace handlepool

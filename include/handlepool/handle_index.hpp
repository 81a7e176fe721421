// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/detail/containers/pool_subscription.hpp>
#include <handlepool/detail/containers/sparse_set.hpp>
#include <handlepool/handle.hpp>
#include <handlepool/handle_container.hpp>

#include <concepts>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <ranges>
#include <span>
#include <stdexcept>
#include <unordered_map>
#include <utility>
#include <vector>

namespace handlepool {

/// Whether several objects may have equal keys.
enum class duplicate_keys {
    refuse, ///< the first object keeps the key, others are refused
    allow,  ///< each object gets its key
};

/// Finds handles by a key of their objects, such as a name or a network id. While it is attached to a pool,
/// compactions keep it up to date.
///
///     handlepool::handle_index<ship, std::string> by_name;
///     by_name.attach(ships, [](const ship& one) { return one.name; });
///     ships.compact();
///     auto titan = by_name.find("Titan");
///
/// A std::unordered_multimap, and the objects that have a key as its members; see handle_container for which
/// handles can be members and what threads may do. An object has one key at a time, of which the index holds
/// a copy. Keys are destroyed after the index has changed, so their destructors may use and change it. Hash
/// and Equal must not change it.
/// @tparam T object type, or void for handles of raw pools; columns<...> for those of rows
/// @tparam Hash and Equal of the keys. If both have `is_transparent`, as for std::unordered_map, keys may be
///         looked up by what compares with them
template <class T, class Key, class Layout = default_layout, class Hash = std::hash<Key>,
          class Equal = std::equal_to<Key>>
class handle_index : public handle_container<handle_index<T, Key, Layout, Hash, Equal>, T, Layout> {
    using base = handle_container<handle_index, T, Layout>;
    using base::link_;
    using base::members_;

    static constexpr bool transparent = requires {
        typename Hash::is_transparent;
        typename Equal::is_transparent;
    };

public:
    /// Types of the members and of their keys.
    using typename base::handle_type;
    using key_type = Key;

    using base::contains;
    using base::empty;

    /// An empty index.
    explicit handle_index(duplicate_keys duplicates = duplicate_keys::refuse) noexcept
        : duplicates_(duplicates) {}

    /// Takes over keys, handles and attachment; the other index is empty and detached afterwards.
    handle_index(handle_index&& other) noexcept : handle_index(other.duplicates_) { swap(other); }
    /// Moves like the constructor; the former attachment ends.
    handle_index& operator=(handle_index other) noexcept {
        swap(other);
        return *this;
    }
    /// Detaches, after the keys have ended.
    ~handle_index() {
        while (!empty()) { // again if keys give others at their end
            clear();
        }
    }

    /// Exchanges keys, handles and attachments. Constant.
    void swap(handle_index& other) noexcept {
        base::swap(other);
        std::swap(duplicates_, other.duplicates_);
        entries_.swap(other.entries_);
        keys_.swap(other.keys_);
        refused_.swap(other.refused_);
    }

    // ---- Look-ups

    /// The handle of an object with this key, of any of them if there are several; null if there is none.
    /// Between the erase of an object and the next compaction, its handle is still found. Constant, on
    /// average.
    handle_type find(const Key& key) const { return first_of(key); }
    template <class Like>
        requires transparent
    handle_type find(const Like& key) const {
        return first_of(key);
    }

    /// The handles of all objects with this key, a forward range that is valid until the index changes.
    /// Constant, on average.
    auto find_all(const Key& key) const { return handles_of(key); }
    template <class Like>
        requires transparent
    auto find_all(const Like& key) const {
        return handles_of(key);
    }

    /// The key of an object, valid until the object has another; null if it has none. Constant.
    const Key* key_of(handle_type handle) const noexcept {
        const detail::found_position position = members_.find(handle);
        return position ? keys_[*position] : nullptr;
    }

    // ---- Changes

    /// Gives a key to an object that has none. Returns false if it has one, if the handle is stale because a
    /// later one of its slot has one, or if another object has this key and duplicates are refused. An
    /// earlier handle of the slot is stale, and loses its key. Constant, on average. Throws
    /// std::invalid_argument for handles that handle_set::insert() refuses, and for a key that does not equal
    /// itself; std::bad_alloc, and what copying, hashing and comparing keys throws. Then nothing has changed,
    /// except that a stale handle may have lost its key.
    bool insert(handle_type handle, Key key) {
        const bool can_join = this->can_join(handle);
        if (entries_ == nullptr) {
            entries_ = std::make_unique<entries>();
        }
        require_findable(key);
        if (!can_join) {
            return false;
        }
        typename entries::node_type stale; // ends last
        if (const detail::found_position rival = members_.find_slot(handle)) {
            stale = take(*rival);
        }
        if (duplicates_ == duplicate_keys::refuse && entries_->contains(key)) {
            return false;
        }
        detail::make_room(keys_);
        const auto entry = entries_->emplace(std::move(key), handle.without_user());
        if (const auto error = detail::capture_exception([&] { members_.add(handle); }); error != nullptr) {
            static_cast<void>(entries_->extract(entry));
            std::rethrow_exception(error);
        }
        keys_.push_back(&entry->first);
        return true;
    }

    /// Gives an object another key. Returns false if it has none, or if another object has this key and
    /// duplicates are refused. Constant, on average, but for the objects that share the old key. Throws
    /// std::invalid_argument for a key that does not equal itself, std::bad_alloc, and what copying, hashing
    /// and comparing keys throws; then nothing has changed.
    bool rekey(handle_type handle, Key key) {
        const detail::found_position position = members_.find(handle);
        if (!position) {
            return false;
        }
        require_findable(key);
        if (entries_->key_eq()(*keys_[*position], key)) {
            return true;
        }
        if (duplicates_ == duplicate_keys::refuse && entries_->contains(key)) {
            return false;
        }
        const auto entry = entries_->emplace(std::move(key), handle.without_user());
        typename entries::const_iterator before = entry;
        const auto error = detail::capture_exception([&] { before = entry_of(*keys_[*position]); });
        if (error != nullptr) {
            static_cast<void>(entries_->extract(entry));
            std::rethrow_exception(error);
        }
        keys_[*position] = &entry->first;
        static_cast<void>(entries_->extract(before));
        return true;
    }

    /// Removes the key of an object. Returns whether it had one. Constant, on average, but for the objects
    /// that share the key. Throws what hashing and comparing keys throws; then nothing has changed.
    bool erase(handle_type handle) {
        const detail::found_position position = members_.find(handle);
        if (position) {
            static_cast<void>(take(*position));
        }
        return bool(position);
    }

    /// Removes all keys. Linear in them.
    void clear() noexcept {
        if (std::unique_ptr<entries> ended = std::exchange(entries_, nullptr)) {
            keys_.clear();
            members_.clear();
            ended->clear();
            if (entries_ == nullptr || entries_->empty()) {
                entries_ = std::move(ended); // the buckets stay
            }
        }
    }

    // ---- A pool's objects

    /// Attaches the index to a pool: every object that compactions have taken into the store gets the key
    /// that `make_key(object)` returns, as do those that they take in later, and objects that the pool
    /// destroys lose their keys. Replaces an earlier attachment; keys that were given before stay, if their
    /// objects are alive. The index and the pool may be destroyed in either order. Objects whose key another
    /// object has, or for whose key there is no memory, are refused(). Hooks of on_birth find the keys if
    /// they were added after the index was attached, and can set what a key is made of if they were added
    /// before; those of on_destroy always find them. Subject to the same rules as on_destroy() of the pool;
    /// linear in its objects and those in the index. Hashing and comparing keys must not throw while it is
    /// attached. Throws std::invalid_argument if there are objects of another pool in the index, or reserved
    /// handles, and what on_destroy() and on_birth() throw; then nothing has changed.
    template <class Pool, class MakeKey>
        requires std::same_as<typename Pool::handle_type, handle_type>
    void attach(Pool& pool, MakeKey make_key) {
        this->require_attachable(pool);
        link_.attach(pool, *this, make_key);
        this->prune(pool);
        for (auto&& [handle, object] : pool.living()) {
            if (!contains(handle)) {
                born(handle, object, make_key);
            }
        }
    }
    /// Without a function that makes keys, an index can't be attached.
    template <class Pool>
    void attach(Pool& pool) = delete;

    /// The objects of the pool that got no key, because another one has it or memory was short: in the order
    /// in which they came, until clear_refused(). If memory was too short even for this list, one is missing
    /// here.
    std::span<const handle_type> refused() const noexcept { return refused_; }
    void clear_refused() noexcept { refused_.clear(); }

private:
    using entries = std::unordered_multimap<Key, handle_type, Hash, Equal>;
    friend class detail::pool_subscription<handle_index>;

    static constexpr const char* name = "handle_index";

    template <class Like>
    handle_type first_of(const Like& key) const {
        if (entries_ == nullptr) {
            return {};
        }
        const auto found = entries_->find(key);
        return found == entries_->end() ? handle_type() : found->second;
    }
    template <class Like>
    auto handles_of(const Like& key) const {
        std::pair<typename entries::const_iterator, typename entries::const_iterator> found;
        if (entries_ != nullptr) {
            found = std::as_const(*entries_).equal_range(key);
        }
        return std::ranges::subrange(found.first, found.second) | std::views::values;
    }

    template <class Pool>
    void forget(handle_type handle, const Pool&) {
        if (const detail::found_position position = members_.find_until(handle)) {
            static_cast<void>(take(*position));
        }
    }

    template <class Object, class MakeKey>
    void born(handle_type handle, Object&& object, MakeKey& make_key) noexcept {
        bool inserted = false;
        static_cast<void>(detail::capture_exception([&] { inserted = insert(handle, make_key(object)); }));
        if (!inserted && !contains(handle) && !link_.is_dead(handle)) {
            static_cast<void>(detail::capture_exception([&] { refused_.push_back(handle); }));
        }
    }

    /// A NaN, for example, would never be found again.
    void require_findable(const Key& key) const {
        if (!entries_->key_eq()(key, key)) {
            detail::throw_exception(std::invalid_argument("handle_index: a key must equal itself"));
        }
    }

    /// The entry of this very key.
    typename entries::const_iterator entry_of(const Key& key) const {
        auto entry = std::as_const(*entries_).equal_range(key).first;
        while (&entry->first != &key) {
            ++entry;
        }
        return entry;
    }

    /// Removes the key of a member, and returns it, so that it is destroyed after the index is whole.
    typename entries::node_type take(std::size_t position) {
        auto taken = entries_->extract(entry_of(*keys_[position]));
        members_.remove(position);
        detail::swap_and_pop(keys_, position);
        return taken;
    }

    duplicate_keys duplicates_;
    // Another one while a key ends with the others. None before the first key.
    std::unique_ptr<entries> entries_;
    std::vector<const Key*> keys_; // of the members, in their order; they lie in the entries
    std::vector<handle_type> refused_;
};

} // namespace handlepool

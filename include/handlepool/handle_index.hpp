// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/detail/containers/key_chains.hpp>
#include <handlepool/detail/containers/pool_subscription.hpp>
#include <handlepool/detail/containers/sparse_set.hpp>
#include <handlepool/handle.hpp>
#include <handlepool/handle_container.hpp>

#include <concepts>
#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <ranges>
#include <span>
#include <stdexcept>
#include <type_traits>
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
/// A hash table, and the objects that have a key as its members; see handle_container for which handles can
/// be members and what threads may do. An object has one key at a time, of which the index holds a copy.
/// Objects with equal keys are found in the order in which they got them. Keys are destroyed after the index
/// has changed, so their destructors may use and change it. Hash and Equal, which are made for each use, must
/// not change it.
/// @tparam T object type, or void for handles of raw pools; columns<...> for those of rows
/// @tparam Hash and Equal of the keys. If both have `is_transparent`, as for std::unordered_map, keys may be
///         looked up by what compares with them
template <class T, class Key, class Layout = default_layout, class Hash = std::hash<Key>,
          class Equal = std::equal_to<Key>>
class handle_index : public handle_container<handle_index<T, Key, Layout, Hash, Equal>, T, Layout> {
    using base = handle_container<handle_index, T, Layout>;
    using base::link_;
    using base::members_;
    using entry = detail::keyed_entry<Key, handle<T, Layout>>;

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

    /// An index with the same handles and copies of their keys that is not attached to a pool. Throws
    /// std::bad_alloc, and what copying a key throws.
    handle_index(const handle_index& other)
        requires std::copy_constructible<Key>
        : handle_index(other.duplicates_) {
        assign(other);
    }
    /// Takes over keys, handles and attachment; the other index is empty and detached afterwards.
    handle_index(handle_index&& other) noexcept : handle_index(other.duplicates_) { swap(other); }
    /// Copies or moves like the constructors; the former attachment ends. Throws what the copy constructor
    /// throws; then nothing has changed.
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
        chains_.swap(other.chains_);
        keys_.swap(other.keys_);
        refused_.swap(other.refused_);
    }
    /// Gets the handles of the other index and copies of their keys, its refused ones and its options, like
    /// handle_set::assign(); keys that can be assigned are. These must not use the index meanwhile. Throws
    /// std::bad_alloc, and what copying a key throws; then the index is empty.
    void assign(const handle_index& other)
        requires std::copy_constructible<Key>
    {
        if (this != &other) {
            this->fill_or_clear([&] { copy(other); });
        }
    }

    // ---- Look-ups

    /// The handle of the object that has this key, of the first that got it if there are several; null if
    /// there is none.
    /// Between the erase of an object and the next compaction, its handle is still found. Constant, on
    /// average.
    handle_type find(const Key& key) const { return handle_of(key); }
    template <class Like>
        requires transparent
    handle_type find(const Like& key) const {
        return handle_of(key);
    }

    /// The handles of all objects with this key, in the order in which they got it: a forward range that is
    /// valid until the index changes. Constant, on average.
    auto find_all(const Key& key) const { return handles_of(key); }
    template <class Like>
        requires transparent
    auto find_all(const Like& key) const {
        return handles_of(key);
    }

    /// The key of an object, valid until the object has another; null if it has none. Constant.
    const Key* key_of(handle_type handle) const noexcept {
        const detail::found_position position = members_.find(handle);
        return position ? std::addressof(keys_[*position]->key) : nullptr;
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
        require_findable(key);
        if (!can_join) {
            return false;
        }
        std::unique_ptr<entry> stale; // ends last
        if (const detail::found_position rival = members_.find_slot(handle)) {
            stale = take(*rival);
        }
        const std::size_t hash = Hash()(key);
        if (duplicates_ == duplicate_keys::refuse && first_of(key, hash) != nullptr) {
            return false;
        }
        auto made = std::make_unique<entry>(std::move(key), handle.without_user(), hash);
        detail::make_room(keys_);
        chains_.reserve(keys_.size() + 1);
        members_.add(handle);
        chains_.append(*made);
        keys_.push_back(std::move(made));
        return true;
    }

    /// Gives an object another key. Returns false if it has none, or if another object has this key and
    /// duplicates are refused. Constant, on average. Throws std::invalid_argument for a key that does not
    /// equal itself, std::bad_alloc, and what copying, hashing and comparing keys throws; then nothing has
    /// changed.
    bool rekey(handle_type handle, Key key) {
        const detail::found_position position = members_.find(handle);
        if (!position) {
            return false;
        }
        require_findable(key);
        if (Equal()(keys_[*position]->key, key)) {
            return true;
        }
        const std::size_t hash = Hash()(key);
        if (duplicates_ == duplicate_keys::refuse && first_of(key, hash) != nullptr) {
            return false;
        }
        auto other = std::make_unique<entry>(std::move(key), handle.without_user(), hash);
        chains_.remove(*keys_[*position]);
        chains_.append(*other);
        keys_[*position].swap(other); // the former one ends last
        return true;
    }

    /// Removes the key of an object. Returns whether it had one. Constant.
    bool erase(handle_type handle) noexcept {
        const detail::found_position position = members_.find(handle);
        if (position) {
            static_cast<void>(take(*position));
        }
        return bool(position);
    }

    /// Removes all keys. Linear in them.
    void clear() noexcept {
        std::vector<std::unique_ptr<entry>> ended = std::exchange(keys_, {});
        chains_.clear();
        members_.clear();
        ended.clear();
        if (keys_.capacity() == 0) {
            keys_.swap(ended); // the memory stays, as a vector's does
        }
    }

    // ---- A pool's objects

    /// Attaches the index to a pool: every object that compactions have taken into the store gets the key
    /// that `make_key(object)` returns, as do those that they take in later, and objects that the pool
    /// destroys lose their keys. Replaces an earlier attachment; keys that were given before stay, if their
    /// objects are alive. The index and the pool may be destroyed in either order. Objects whose key another
    /// object has, and those for which `make_key` or the index throws, are refused(). Hooks of on_birth find
    /// the keys if they were added after the index was attached, and can set what a key is made of if they
    /// were added before; those of on_destroy always find them. Subject to the same rules as on_destroy() of
    /// the pool; linear in its objects and those in the index. Throws std::invalid_argument if there are
    /// objects of another pool in the index, or reserved handles, and what on_destroy() and on_birth() throw;
    /// then nothing has changed.
    template <class Pool, class MakeKey>
        requires std::same_as<typename Pool::handle_type, handle_type>
    void attach(Pool& pool, MakeKey make_key) {
        this->require_attachable(pool);
        link_.attach(pool, *this, make_key);
        refused_.clear();
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
    /// in which they came since attach(), until clear_refused(). If memory was too short even for this list,
    /// one is missing here.
    std::span<const handle_type> refused() const noexcept { return refused_; }
    void clear_refused() noexcept { refused_.clear(); }

private:
    friend class detail::pool_subscription<handle_index>;
    friend class detail::container_contents<handle_index>;

    static constexpr const char* name = "handle_index";

    /// Iterates over the objects with one key.
    class same_key_iterator {
    public:
        using value_type = handle_type;
        using difference_type = std::ptrdiff_t;
        using reference = const handle_type&;
        using pointer = const handle_type*;
        using iterator_category = std::forward_iterator_tag;

        same_key_iterator() noexcept = default;
        explicit same_key_iterator(const entry* now) noexcept : now_(now) {}

        reference operator*() const noexcept { return now_->handle; }
        pointer operator->() const noexcept { return &now_->handle; }
        same_key_iterator& operator++() {
            now_ = find_from(now_->next, now_->key, now_->hash);
            return *this;
        }
        same_key_iterator operator++(int) {
            const same_key_iterator before = *this;
            ++*this;
            return before;
        }
        friend bool operator==(const same_key_iterator& one, const same_key_iterator& other) noexcept {
            return one.now_ == other.now_;
        }

    private:
        const entry* now_ = nullptr; // null at the end
    };

    /// The first entry with this key, from some entry of its chain on.
    template <class Like>
    static const entry* find_from(const entry* each, const Like& key, std::size_t hash) {
        while (each != nullptr && (each->hash != hash || !Equal()(key, each->key))) {
            each = each->next;
        }
        return each;
    }
    template <class Like>
    const entry* first_of(const Like& key, std::size_t hash) const {
        return find_from(chains_.first(hash), key, hash);
    }
    template <class Like>
    handle_type handle_of(const Like& key) const {
        const entry* const found = first_of(key, Hash()(key));
        return found == nullptr ? handle_type() : found->handle;
    }
    template <class Like>
    auto handles_of(const Like& key) const {
        return std::ranges::subrange(same_key_iterator(first_of(key, Hash()(key))), same_key_iterator());
    }

    /// Becomes like the other, or anything that can be cleared.
    void copy(const handle_index& other) {
        chains_.reset_like(other.chains_);
        members_.assign(other.members_);
        keys_.reserve(other.keys_.size());
        if (keys_.size() > other.keys_.size()) {
            keys_.resize(other.keys_.size());
        }
        for (std::size_t i = 0; i != other.keys_.size(); ++i) {
            const entry& from = *other.keys_[i];
            if (i == keys_.size()) {
                keys_.push_back(std::make_unique<entry>(from));
                continue;
            }
            if constexpr (std::is_copy_assignable_v<Key>) {
                keys_[i]->key = from.key;
                keys_[i]->handle = from.handle;
                keys_[i]->hash = from.hash;
            } else {
                keys_[i] = std::make_unique<entry>(from);
            }
        }
        other.chains_.for_each(
            [this](const entry& each) { chains_.append(*keys_[*members_.find(each.handle)]); });
        refused_ = other.refused_;
        duplicates_ = other.duplicates_;
    }

    template <class Pool>
    void forget(handle_type handle, const Pool&) noexcept {
        if (const detail::found_position position = members_.find_until(handle)) {
            static_cast<void>(take(*position));
        }
    }

    template <class Object, class MakeKey>
    void born(handle_type handle, Object&& object, MakeKey& make_key) noexcept {
        if (link_.ignores_births()) {
            return;
        }
        bool inserted = false;
        static_cast<void>(detail::capture_exception([&] { inserted = insert(handle, make_key(object)); }));
        if (!inserted && !contains(handle) && !link_.is_dead(handle)) {
            static_cast<void>(detail::capture_exception([&] { refused_.push_back(handle); }));
        }
    }

    /// A NaN, for example, would never be found again.
    static void require_findable(const Key& key) {
        if (!Equal()(key, key)) {
            detail::throw_exception(std::invalid_argument("handle_index: a key must equal itself"));
        }
    }

    /// Removes the key of a member, and returns it, so that it is destroyed after the index is whole.
    std::unique_ptr<entry> take(std::size_t position) noexcept {
        std::unique_ptr<entry> taken = std::move(keys_[position]);
        chains_.remove(*taken);
        members_.remove(position);
        detail::swap_and_pop(keys_, position);
        return taken;
    }

    duplicate_keys duplicates_;
    std::vector<std::unique_ptr<entry>> keys_; // of the members, in their order
    detail::key_chains<entry> chains_;
    std::vector<handle_type> refused_;
};

} // namespace handlepool

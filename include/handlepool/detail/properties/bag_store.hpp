// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/memory/virtual_array.hpp>
#include <handlepool/detail/properties/bag_buffer.hpp>
#include <handlepool/detail/properties/block_arena.hpp>
#include <handlepool/memory_use.hpp>
#include <handlepool/property_path.hpp>
#include <handlepool/property_view.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace handlepool {
enum class removals;
} // namespace handlepool

namespace handlepool::detail {

/// Whose bag it is: the parts of a handle, of any layout.
struct bag_owner {
    std::uint64_t slot;
    std::uint32_t tag; // other than 0, if it can have a bag
    std::uint32_t pool_id;
};

/// The bags of a pool's objects, in blocks of one arena, found by slot: what a property_store does that does
/// not depend on its types. Threads, errors and costs are as that says.
class HANDLEPOOL_EXPORT bag_store {
public:
    /// Why a bag was not changed.
    enum class outcome {
        done,
        stale,     // the slot has the bag of a later object
        no_slot,   // the slot is beyond those of the store
        foreign,   // the owner is of another pool
        collides,  // the path does, with another one
        too_large, // the bag would be
        full       // the store is
    };

    /// Reserves address space for bags of this many slots, in this many bytes. Throws reservation_failed and
    /// std::bad_alloc.
    bag_store(std::size_t slot_limit, std::size_t bytes);

    // ---- All bags

    std::size_t slot_limit() const noexcept { return table_.size(); }
    std::size_t bytes() const noexcept { return bytes_; }

    /// No slot from here on has a bag.
    std::size_t slots_end() const noexcept { return slots_end_.load(std::memory_order::relaxed); }
    /// The tag of the slot's bag; 0 if it has none.
    std::uint32_t tag_of(std::size_t slot) const noexcept { return entry_of(slot).tag; }
    /// The slot's bag.
    property_view bag_in(std::size_t slot) const noexcept { return {memory_of(entry_of(slot)), names_}; }

    std::size_t size() const noexcept { return arena_->in_use(); }
    void clear() noexcept;
    /// Gets the bags of a store of as many slots and bytes, byte by byte, in its own memory where that
    /// suffices. Throws property_store_full; then there are none.
    void assign(const bag_store& other);
    void shrink_to_fit();
    memory_use memory() const noexcept;

    key_table* names() const noexcept { return names_; }
    void set_names(key_table* names) noexcept { names_ = names; }

    /// The pool that the objects are of; nothing before the first bag.
    std::optional<std::uint32_t> pool_id() const noexcept;
    /// Called before an object of this pool gets a bag: a store that has lost all its bags forgets the pool
    /// that they were of, if it is another one.
    void leave_other_pool(std::uint32_t pool_id) noexcept;

    // ---- One bag

    bool has(const bag_owner& owner) const noexcept { return bag_of(owner) != block::none; }
    /// The owner's bag; one without properties if it has none.
    property_view find(const bag_owner& owner) const noexcept {
        const block found = bag_of(owner);
        return found != block::none ? property_view((*arena_)[found], names_) : no_bag();
    }

    /// Asks for the memory of a slot that is read soon.
    HANDLEPOOL_ALWAYS_INLINE void prefetch(std::uint64_t slot) const noexcept {
        detail::prefetch(table_.data(), slot);
    }

    /// Sets a value. Puts the message about a collision into `error`.
    outcome put(const bag_owner& owner, property_path path, const bag_entry& value, std::string& error);
    /// These return false if the owner is stale, and throw what else prevents the change.
    bool set(const bag_owner& owner, property_path path, const bag_entry& value);
    bool assign(const bag_owner& owner, property_view bag);
    bool merge(const bag_owner& owner, property_view later, removals how);

    /// These return false if there is nothing to erase.
    bool erase(const bag_owner& owner, property_hash path) noexcept;
    bool erase(const bag_owner& owner) noexcept;
    /// Erases the slot's bag, unless it is of a later object.
    void forget(const bag_owner& owner) noexcept;

private:
    struct alignas(8) entry {
        std::uint32_t tag; // 0 where there is no bag
        block bag;
    };

    static constexpr std::uint32_t no_pool = 0xffff'ffff; // ids have fewer bits

    entry entry_of(std::uint64_t slot) const noexcept {
        return table_[slot].load(std::memory_order::relaxed);
    }
    void set_entry(std::uint64_t slot, entry now) noexcept {
        table_[slot].store(now, std::memory_order::relaxed);
    }
    /// The owner's block; none if it has no bag.
    block bag_of(const bag_owner& owner) const noexcept {
        const entry found = owner.slot < table_.size() ? entry_of(owner.slot) : entry{};
        return found.tag == owner.tag ? found.bag : block::none;
    }
    const std::byte* memory_of(entry of) const noexcept { return std::as_const(*arena_)[of.bag]; }
    property_view no_bag() const noexcept;

    outcome validate(const bag_owner& owner) const noexcept;
    /// Gives the owner a new bag, in a block of this class that `fill(memory, capacity)` has written.
    template <class Fill>
    outcome replace(const bag_owner& owner, block_class size, Fill fill);
    void release(entry of) noexcept;
    block_class class_of(entry of) const noexcept {
        return block_class::of(bag_reader(memory_of(of)).capacity());
    }
    /// Returns whether there was room for the other's bags.
    bool try_assign(const bag_store& other) noexcept;
    bool join_pool(std::uint32_t pool_id) noexcept;
    void include(std::uint64_t slot) noexcept;
    /// Throws what prevented a change, except that the owner is stale. Returns whether nothing did.
    bool throw_unless_done(outcome came, const bag_owner& owner) const;

    // By slot. Relaxed: whoever may use a bag is ordered after its changes by other means, as its object is;
    // and of a stale handle's slot, whose bag may be that of another thread's object, no more is read than
    // this.
    virtual_array<std::atomic<entry>> table_;
    std::size_t bytes_;
    std::unique_ptr<block_arena> arena_;
    key_table* names_ = nullptr;
    // Relaxed: a thread that asks is ordered after the changes of bags by other means, as the bags are.
    std::atomic<std::size_t> slots_end_{0};
    // The first bag publishes the pool, by a release, after the arena has counted that bag: a thread of
    // another pool that acquires it finds the store in use, and is refused.
    std::atomic<std::uint32_t> pool_id_{no_pool};
};

} // namespace handlepool::detail

// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/policy.hpp>

#include <atomic>
#include <cstddef>
#include <type_traits>

namespace handlepool::detail {

/// A slot: two words that change independently of each other. See slot_table.
template <class Config>
struct slot_entry {
    using policy = typename Config::policy;

    typename policy::template atomic<typename Config::layout::tag_type> tag;
    typename policy::template atomic<location> where;

    static_assert(!std::is_same_v<policy, default_policy> || sizeof(tag) + sizeof(where) == 8,
                  "a slot is two words");
};

/// Looks handles up in a slot table: where that is, and how long. Neither ever changes, so that a copy serves
/// as long as the table lives, and stays in the registers of a loop.
template <class Config>
class slot_lookup {
public:
    using layout = typename Config::layout;
    using value_type = typename layout::value_type;

    slot_lookup(const slot_entry<Config>* table, std::size_t size) noexcept : slots_(table), size_(size) {}

    /// Returns whether the index is in range and the generation odd. Other handles never resolve.
    bool could_live(value_type handle) const noexcept {
        return layout::index_of(handle) < size_ && layout::is_alive(layout::tag_of(handle)) &&
               layout::fits(handle);
    }

    /// Returns whether the handle's object lives. Wait-free.
    bool is_alive(value_type handle) const noexcept {
        return could_live(handle) &&
               // (2)
               slots_[layout::index_of(handle)].tag.load(std::memory_order::acquire) ==
                   layout::tag_of(handle);
    }

    /// The handle's object in the memory of all objects, or null when it doesn't live. It stays there until
    /// compaction. Wait-free.
    template <class Objects>
    auto find(value_type handle, const Objects& objects) const noexcept -> decltype(objects.at(location{})) {
        if (!could_live(handle)) {
            return nullptr;
        }
        const slot_entry<Config>& named = slots_[layout::index_of(handle)];
        // (2) acquire: pairs with (1), so that the object is seen complete
        if (named.tag.load(std::memory_order::acquire) != layout::tag_of(handle)) {
            return nullptr;
        }
        return objects.at(named.where.load(std::memory_order::relaxed));
    }

    /// Like is_alive() and find(), for a thread that no other creates or erases beside.
    bool is_alive_alone(value_type handle) const noexcept {
        // Relaxed: so the compiler may keep in registers what else a loop reads.
        return could_live(handle) && slots_[layout::index_of(handle)].tag.load(std::memory_order::relaxed) ==
                                         layout::tag_of(handle);
    }
    template <class Objects>
    auto find_alone(value_type handle, const Objects& objects) const noexcept
        -> decltype(objects.at(location{})) {
        return is_alive_alone(handle)
                   ? objects.at(slots_[layout::index_of(handle)].where.load(std::memory_order::relaxed))
                   : nullptr;
    }

    /// Prefetches the slot that a handle names.
    HANDLEPOOL_ALWAYS_INLINE void prefetch_slot(value_type handle) const noexcept {
        prefetch_object_to_read(slots_, layout::index_of(handle), sizeof(slot_entry<Config>));
    }
    /// Prefetches the object of a handle, from what its slot says now.
    template <class Objects>
    HANDLEPOOL_ALWAYS_INLINE void prefetch_object(value_type handle, const Objects& objects) const noexcept {
        if (could_live(handle)) {
            objects.prefetch_to_read(slots_[layout::index_of(handle)].where.load(std::memory_order::relaxed));
        }
    }

private:
    const slot_entry<Config>* slots_;
    std::size_t size_;
};

} // namespace handlepool::detail

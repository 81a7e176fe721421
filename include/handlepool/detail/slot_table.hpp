#pragma once

#include <handlepool/detail/config.hpp>
#include <handlepool/detail/memory_of.hpp>
#include <handlepool/detail/numbers.hpp>
#include <handlepool/handle.hpp>
#include <handlepool/memory_use.hpp>
#include <handlepool/policy.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace handlepool::detail {

/// The sparse table: an entry for each handle index, two words that change independently of each other.
///
/// The *tag* (pool id and generation) is that of the only handle that is valid for the slot. The slot's owner
/// publishes it, and any thread that erases moves it on by compare-exchange. The *location* says where the
/// object is. It is written before the tag by whoever publishes, and later by compaction alone: a plain store
/// moves an object, whether it is being erased at the same time or not.
template <class Config>
class slot_table {
public:
    using layout = typename Config::layout;
    using policy = typename Config::policy;
    using value_type = typename layout::value_type;
    using tag_type = typename layout::tag_type;

    slot_table(std::string_view what_for, std::size_t size, std::size_t expected)
        : slots_(what_for, size, expected) {}

    std::size_t size() const noexcept { return slots_.size(); }

    /// The slot that a handle names, which must be of this table.
    static constexpr slot_index slot_of(value_type handle) noexcept {
        return slot_index{static_cast<std::uint32_t>(layout::index_of(handle))};
    }
    /// The handle of the object that a slot holds under this tag.
    static constexpr value_type handle_of(slot_index slot, tag_type tag) noexcept {
        return layout::value_of(raw(slot), tag);
    }

    /// What erasing makes of the tag of a living object.
    static constexpr tag_type erased(tag_type tag) noexcept { return tag + 1; }
    /// The tag under which the latest object of a slot lived, from the slot's current tag.
    static constexpr tag_type last_object(tag_type tag) noexcept { return (tag - 1) | 1U; }

    /// The handle's object in the store of all objects, or null when it doesn't live. It stays there until
    /// compaction. Wait-free.
    template <class Objects>
    auto find(value_type handle, Objects&& objects) const noexcept -> decltype(objects.at(location{})) {
        if (!could_live(handle)) {
            return nullptr;
        }
        const entry& named = slots_[layout::index_of(handle)];
        // (2) acquire: pairs with (1), so that the object is seen complete
        if (named.tag.load(std::memory_order::acquire) != layout::tag_of(handle)) {
            return nullptr;
        }
        return objects.at(named.where.load(std::memory_order::relaxed));
    }

    /// Does the handle's object live? Wait-free.
    bool is_alive(value_type handle) const noexcept {
        return could_live(handle) &&
               // (2)
               slots_[layout::index_of(handle)].tag.load(std::memory_order::acquire) ==
                   layout::tag_of(handle);
    }

    /// Ends the life of the handle's object. Of all calls with one handle exactly one returns true.
    /// Wait-free.
    bool kill(value_type handle) noexcept {
        tag_type tag = layout::tag_of(handle);
        return could_live(handle) &&
               // (3) acquire: pairs with (1), so that any thread that learns of the erase from this one sees
               // the complete object; a failed exchange reads nothing that is used
               slots_[layout::index_of(handle)].tag.compare_exchange_strong(
                   tag, erased(tag), std::memory_order::acquire, std::memory_order::relaxed);
    }

    /// The same for an object that the caller has found alive by is_alive(), and whoever sees it dead sees
    /// what the caller did before.
    bool kill_announced(value_type handle) noexcept {
        tag_type tag = layout::tag_of(handle);
        return could_live(handle) &&
               // (40) release: pairs with (4) in a sweep, which sees the taking announced. The complete
               // object was seen by (2).
               slots_[layout::index_of(handle)].tag.compare_exchange_strong(
                   tag, erased(tag), std::memory_order::release, std::memory_order::relaxed);
    }

    /// The tag that the next object of a slot gets. Only for the slot's owner.
    /// @param fresh_tag tag, not alive, that a slot starts from when it was never used
    tag_type next_tag(slot_index slot, tag_type fresh_tag) const noexcept {
        const tag_type tag = tag_relaxed(slot);
        return (tag == 0 ? fresh_tag : tag) + 1;
    }

    /// Makes the object at this location the slot's: from here on its handle resolves. Only for the slot's
    /// owner.
    void publish(slot_index slot, tag_type tag, location where) noexcept {
        slots_[raw(slot)].where.store(where, std::memory_order::relaxed); // carried by (1)
        // (1) release: pairs with (2) in find and is_alive, (3) in kill, (4) in compaction and its sweep
        slots_[raw(slot)].tag.store(tag, std::memory_order::release);
    }

    /// The slot's tag, with all that was done before it was published.
    tag_type tag(slot_index slot) const noexcept {
        // (4) acquire: pairs with (1); in a sweep also with (40)
        return slots_[raw(slot)].tag.load(std::memory_order::acquire);
    }

    /// The slot's tag as another access has made it visible already.
    tag_type tag_relaxed(slot_index slot) const noexcept {
        return slots_[raw(slot)].tag.load(std::memory_order::relaxed);
    }

    location location_of(slot_index slot) const noexcept {
        return slots_[raw(slot)].where.load(std::memory_order::relaxed);
    }

    /// Says where the slot's object is now. Only for compaction.
    void set_location(slot_index slot, location where) noexcept {
        slots_[raw(slot)].where.store(where, std::memory_order::relaxed);
    }

    void prefetch_slot(slot_index slot) const noexcept { prefetch(slots_.data(), raw(slot)); }

    /// Forgets everything. Only while nobody else uses the table.
    void reset() noexcept { slots_.discard(); }

    memory_use memory() const noexcept { return memory_of(slots_); }

private:
    struct entry {
        typename policy::template atomic<tag_type> tag;
        typename policy::template atomic<location> where;
    };
    static_assert(!std::is_same_v<policy, default_policy> || sizeof(entry) == 8, "a slot is two words");

    /// Is the index in range, and the generation odd? Other handles never resolve.
    bool could_live(value_type handle) const noexcept {
        return layout::index_of(handle) < slots_.size() && layout::is_alive(layout::tag_of(handle)) &&
               layout::fits(handle);
    }

    typename policy::template array<entry> slots_;
};

} // namespace handlepool::detail

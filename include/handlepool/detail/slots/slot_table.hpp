// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/base/least.hpp>
#include <handlepool/detail/memory/allocation_label.hpp>
#include <handlepool/detail/memory/described_pool.hpp>
#include <handlepool/detail/slots/slot_lookup.hpp>
#include <handlepool/handle.hpp>
#include <handlepool/memory_use.hpp>
#include <handlepool/policy.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace handlepool::detail {

/// What the table says of a slot.
template <class Tag>
struct slot_words {
    Tag tag{};
    location where{};

    friend bool operator==(const slot_words&, const slot_words&) = default;
};

/// The sparse table: an entry for each handle index, two words that change independently of each other.
///
/// The *tag* (pool id and generation) is that of the only handle that is valid for the slot. The slot's owner
/// publishes it, and any thread that erases or revokes moves it on by compare-exchange. It only grows. The
/// *location* says where the object is. It is written before the tag by whoever publishes, and later by
/// compaction alone: a plain store moves an object, whether it is being erased at the same time or not.
///
/// While a slot has no object, its location may hold a *reservation*: half the tag that the object to come
/// will have. No slot has the same one twice, so of all threads that exchange it for something else exactly
/// one wins, however late the others are. The tag stays the even one before, and nothing resolves.
///
/// When a slot is taken back in time, so is its tag. It may have a *floor* then, above all handles that it
/// has given out meanwhile: where the tag moves on to another handle, it moves above the floor.
template <class Config>
class slot_table {
public:
    using layout = typename Config::layout;
    using policy = typename Config::policy;
    using value_type = typename layout::value_type;
    using tag_type = typename layout::tag_type;

    /// The location of a slot whose reservation a thread has taken to make its object. No reservation: it
    /// would be that of a generation that never lives.
    static constexpr location being_fulfilled =
        location{raw(location::first_no_place) | layout::make_tag(0, layout::generation_mask) >> 1};
    /// The location of a slot whose reservation was cancelled.
    static constexpr location cancelled = location::nowhere;

    slot_table(const allocation_label& what_for, std::size_t size, std::size_t expected)
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
    /// The location of a slot that is reserved for the object with this tag. Tags of living objects differ in
    /// more than the lowest bit.
    static constexpr location reservation(tag_type tag) noexcept {
        return location{raw(location::first_no_place) | tag >> 1};
    }
    /// The tag under which the latest object of a slot lived, from the slot's current tag.
    static constexpr tag_type last_object(tag_type tag) noexcept { return (tag - 1) | 1U; }
    /// What revoking makes of the tag of a living object.
    static constexpr tag_type revoked(tag_type tag) noexcept { return tag + 2; }

    /// Looks handles up, as long as the table lives.
    slot_lookup<Config> lookup() const noexcept { return {slots_.data(), slots_.size()}; }
    bool is_alive(value_type handle) const noexcept { return lookup().is_alive(handle); }

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

    /// Like kill(), for an object that the caller has found alive by is_alive(): a thread that sees it dead
    /// sees what the caller did before.
    bool kill_announced(value_type handle) noexcept {
        tag_type tag = layout::tag_of(handle);
        return could_live(handle) &&
               // (45) release: pairs with (4) in a sweep, which sees the extraction announced. The complete
               // object was seen by (2).
               slots_[layout::index_of(handle)].tag.compare_exchange_strong(
                   tag, erased(tag), std::memory_order::release, std::memory_order::relaxed);
    }

    /// Like kill(), while no other thread kills or revokes.
    bool kill_alone(value_type handle) noexcept {
        const slot_index slot = slot_of(handle);
        const tag_type tag = layout::tag_of(handle);
        const bool lives = could_live(handle) && tag_relaxed(slot) == tag;
        if (lives) {
            kill_alone(slot, tag);
        }
        return lives;
    }

    /// Like kill(), for a living object that no other thread can kill meanwhile.
    void kill_alone(slot_index slot, tag_type tag) noexcept {
        slots_[raw(slot)].tag.store(erased(tag), std::memory_order::relaxed);
    }

    /// The same for several; `slot_at(i)` is the slot of one. Returns whether a generation was the last one.
    template <class SlotAt>
    bool kill_alone(std::size_t count, SlotAt slot_at) noexcept {
        entry* const entries = slots_.data(); // the compiler can't know that this stays
        bool last = false;
        for (std::size_t i = 0; i != count; ++i) {
            entry& named = entries[raw(slot_at(i))];
            const tag_type tag = named.tag.load(std::memory_order::relaxed);
            named.tag.store(erased(tag), std::memory_order::relaxed);
            last |= layout::generation_of(tag) == layout::last_generation;
        }
        return last;
    }

    /// Gives the object of the handle another handle, whose tag is the next living one above the slot's
    /// floor, and returns it; zero when the object does not live, or no generation is left. Of all calls of
    /// this and kill() with one handle exactly one succeeds. Wait-free.
    value_type revoke(value_type handle) noexcept {
        tag_type tag = layout::tag_of(handle);
        const value_type after = could_live(handle) ? handle_after(handle) : 0;
        if (after == 0) {
            return 0;
        }
        const slot_index slot = slot_of(handle);
        const tag_type next = layout::tag_of(after);
        // (37) seq_cst: precedes (54), see (56); and acquire: pairs with (1), like (3). A read-modify-write:
        // what the publishing store carries, a load of the new tag gets by the release sequence.
        return slots_[raw(slot)].tag.compare_exchange_strong(tag, next, std::memory_order::seq_cst,
                                                             std::memory_order::relaxed)
                   ? after
                   : 0;
    }
    /// What revoke() gives the living object of a handle.
    value_type handle_after(value_type handle) const noexcept {
        const tag_type tag = layout::tag_of(handle);
        const slot_index slot = slot_of(handle);
        return layout::generation_of(tag) >= layout::last_generation
                   ? 0
                   : handle_of(slot, greatest<tag_type>(revoked(tag), floor(slot) + 1));
    }

    /// The tag that the next object of a slot gets. Only for the slot's owner.
    /// @param fresh_tag tag, not alive, that a slot starts from when it was never used
    tag_type next_tag(slot_index slot, tag_type fresh_tag) const noexcept {
        const tag_type tag = tag_relaxed(slot);
        if (tag == 0) [[unlikely]] {
            return fresh_tag + 1;
        }
        return tag + 1;
    }

    /// Makes the object at this location the slot's: from here on its handle resolves. Only for the slot's
    /// owner.
    void publish(slot_index slot, tag_type tag, location where) noexcept {
        entry& named = slots_[raw(slot)];
        named.where.store(where, std::memory_order::relaxed); // carried by (1)
        // (1) release: pairs with (2) in find and is_alive, (3) in kill, (4) in compaction and its sweep
        named.tag.store(tag, std::memory_order::release);
    }

    /// Reserves the slot for the object that will have this tag, the slot's next one. Only for the slot's
    /// owner, which gives the slot up to whoever takes the reservation.
    void reserve(slot_index slot, tag_type tag) noexcept {
        // (38) release: pairs with (39), for the slot's tag and all that was done in the slot before
        slots_[raw(slot)].where.store(reservation(tag), std::memory_order::release);
    }

    /// Takes the handle's reservation: the calling thread owns the slot, to publish an object there or to
    /// burn the handle, and the location tells which. Of all calls with one reservation exactly one returns
    /// true. Wait-free.
    bool take_reservation(value_type handle, location then) noexcept {
        location expected = reservation(layout::tag_of(handle));
        return could_live(handle) &&
               // (39) acquire: pairs with (38), for the slot's tag; a failed exchange reads nothing that is
               // used
               slots_[layout::index_of(handle)].where.compare_exchange_strong(
                   expected, then, std::memory_order::acquire, std::memory_order::relaxed);
    }

    /// Makes the handle that was taken by take_reservation() stale for ever, before any object had it. Only
    /// for the slot's owner.
    void burn(value_type handle) noexcept {
        entry& named = slots_[layout::index_of(handle)];
        named.where.store(cancelled, std::memory_order::relaxed);
        named.tag.store(greatest(erased(layout::tag_of(handle)), floor(slot_of(handle))),
                        std::memory_order::relaxed); // carried by (32)
    }

    /// Like publish(), for a slot that was reserved, of which others may ask the state concurrently.
    void publish_reserved(slot_index slot, tag_type tag, location where) noexcept {
        // (40) release: pairs with (41), for the owner of the place
        slots_[raw(slot)].where.store(where, std::memory_order::release);
        // (1)
        slots_[raw(slot)].tag.store(tag, std::memory_order::release);
    }

    /// Returns whether the handle resolves, is reserved, or is stale. `is_owner(location, handle)` says
    /// whether the place was made the handle's. Wait-free.
    template <class IsOwner>
    handle_state state(value_type handle, tag_type fresh_tag, IsOwner is_owner) noexcept {
        if (!could_live(handle)) {
            return handle_state::stale;
        }
        entry& named = slots_[layout::index_of(handle)];
        const tag_type tag = layout::tag_of(handle);
        // (2)
        const tag_type seen = named.tag.load(std::memory_order::acquire);
        if (seen >= tag) {
            return seen == tag ? handle_state::alive : handle_state::stale;
        }
        // (41) acquire: pairs with (40), for the owner of the place
        const location where = named.where.load(std::memory_order::acquire);
        if (where == reservation(tag)) {
            return handle_state::reserved;
        }
        // Before the last look at the tag: a place that compaction has vacated since tells nothing.
        const bool on_its_way = where == being_fulfilled || (is_place(where) && is_owner(where, handle));
        // It may have been fulfilled in between, and then be stale already. A read-modify-write sees the
        // latest tag, also in a thread that is not ordered after the fulfillment. (2)
        const tag_type now = named.tag.fetch_add(0, std::memory_order::acquire);
        if (now == tag) {
            return handle_state::alive;
        }
        const bool is_next = (now == 0 ? fresh_tag : now) + 1 == tag;
        return on_its_way && is_next ? handle_state::reserved : handle_state::stale;
    }

    /// The slot's tag, with all that was done before it was published.
    tag_type tag(slot_index slot) const noexcept {
        // (4) acquire: pairs with (1); in a sweep also with (45)
        return slots_[raw(slot)].tag.load(std::memory_order::acquire);
    }

    /// The slot's tag as another access has made it visible already.
    tag_type tag_relaxed(slot_index slot) const noexcept {
        return slots_[raw(slot)].tag.load(std::memory_order::relaxed);
    }

    /// The same, for who notes whose handle it is and wants to hear of later revokes: after turn_on() of the
    /// pool's store_watch.
    tag_type tag_to_note(slot_index slot) const noexcept {
        // (56) seq_cst: follows (55). A revoke (37) that it doesn't see finds the watch turned on (54).
        return slots_[raw(slot)].tag.load(std::memory_order::seq_cst);
    }

    location location_of(slot_index slot) const noexcept {
        return slots_[raw(slot)].where.load(std::memory_order::relaxed);
    }

    /// Says where the slot's object is now. Only for compaction.
    void set_location(slot_index slot, location where) noexcept {
        slots_[raw(slot)].where.store(where, std::memory_order::relaxed);
    }

    // For captures, while nobody else uses the pool.

    slot_words<tag_type> words_of(slot_index slot) const noexcept {
        return {.tag = tag_relaxed(slot), .where = location_of(slot)};
    }
    /// The tag of a slot, also of one that no object has had; and whether the slot is reserved.
    static tag_type tag_or_fresh(const slot_words<tag_type>& words, tag_type fresh_tag) noexcept {
        return words.tag == 0 ? fresh_tag : words.tag;
    }
    static bool is_reserved(const slot_words<tag_type>& words, tag_type fresh_tag) noexcept {
        const tag_type tag = tag_or_fresh(words, fresh_tag);
        return !layout::is_alive(tag) && words.where == reservation(tag + 1);
    }
    void restore(slot_index slot, const slot_words<tag_type>& words) noexcept {
        slots_[raw(slot)].where.store(words.where, std::memory_order::relaxed);
        slots_[raw(slot)].tag.store(words.tag, std::memory_order::relaxed);
    }

    // Floors, none at first.

    /// Makes room for the floors. While nobody else uses the pool. Throws reservation_failed.
    void make_floors(const allocation_label& what_for) {
        if (!floors_) {
            floors_.emplace(what_for, size(), 0);
        }
    }
    /// From here on the slot gives out no handle with a tag below this one, which is even. While nobody else
    /// uses the pool.
    void raise_floor(slot_index slot, tag_type tag) noexcept {
        (*floors_)[raw(slot)] = greatest<tag_type>(floor(slot), tag);
        highest_floor_ = greatest(highest_floor(), tag);
    }
    tag_type floor(slot_index slot) const noexcept {
        return highest_floor() == 0 ? tag_type{} : tag_type{(*floors_)[raw(slot)]};
    }
    /// Zero when no slot has a floor.
    tag_type highest_floor() const noexcept { return highest_floor_; }
    /// Moves the tag on to the slot's floor, unless it is above. Only for the slot's owner, when its object
    /// has ended.
    void lift_to_floor(slot_index slot) noexcept {
        if (tag_relaxed(slot) < floor(slot)) {
            slots_[raw(slot)].tag.store(floor(slot), std::memory_order::relaxed); // the slot is freed later
        }
    }

    /// For programs that read this one's memory.
    described_array described() const noexcept {
        return {.first = slots_.data(), .stride = sizeof(entry), .count = slots_.size()};
    }

    void prefetch_slot(slot_index slot) const noexcept { prefetch(slots_.data(), raw(slot)); }

    /// Forgets everything. Only while nobody else uses the table.
    void reset() noexcept {
        slots_.discard();
        if (floors_) {
            floors_->discard();
            highest_floor_ = 0;
        }
    }

    memory_use memory() const noexcept { return floors_ ? memory_of(slots_, *floors_) : memory_of(slots_); }

private:
    using entry = slot_entry<Config>;

    bool could_live(value_type handle) const noexcept { return lookup().could_live(handle); }

    typename policy::template array<entry> slots_;
    std::optional<typename policy::template array<typename policy::template plain<tag_type>>> floors_;
    typename policy::template plain<tag_type> highest_floor_{0};
};

} // namespace handlepool::detail

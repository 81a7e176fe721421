// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/parts/emplace_transaction.hpp>
#include <handlepool/detail/parts/pool_state.hpp>
#include <handlepool/detail/parts/shard.hpp>
#include <handlepool/handle.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

namespace handlepool::detail {

/// What became of an attempt to fulfill a handle.
enum class fulfill_outcome { done, not_reserved, no_shard, no_room };

/// What becomes of a handle when its object can't be made.
enum class if_it_fails { keep, burn };

/// Makes a handle stale for ever before any object had it, and gives its slot back. Only for the thread that
/// has taken its reservation.
template <class T, class Config>
void burn_handle(pool_state<T, Config>& parts, typename Config::layout::value_type handle) noexcept {
    using layout = typename Config::layout;
    parts.table.burn(handle);
    if (layout::generation_of(layout::tag_of(handle)) == layout::last_generation) {
        parts.allocator.retire(1);
    } else {
        parts.allocator.give_back(slot_table<Config>::slot_of(handle));
    }
}

/// A reservation that a thread has taken to make the object: reserved again, or burnt, unless the object is
/// published.
template <class T, class Config>
class taken_reservation {
    using parts_type = pool_state<T, Config>;
    using shard_type = shard<typename Config::policy>;
    using slots_type = slot_table<Config>;
    using value_type = typename Config::layout::value_type;

public:
    taken_reservation(parts_type& parts, shard_type& mine, value_type handle, if_it_fails then) noexcept
        : parts_(parts),
          shard_(mine),
          handle_(handle),
          then_(then),
          taken_(parts.table.take_reservation(handle, slots_type::being_fulfilled)) {}
    ~taken_reservation() {
        if (!taken_) {
            return;
        }
        if (then_ == if_it_fails::keep) {
            parts_.table.reserve(slots_type::slot_of(handle_), Config::layout::tag_of(handle_));
        } else {
            add(shard_.closed, 1);
            burn_handle(parts_, handle_);
        }
    }

    taken_reservation(const taken_reservation&) = delete;
    taken_reservation& operator=(const taken_reservation&) = delete;

    /// False when the handle was not reserved.
    bool taken() const noexcept { return taken_; }

    /// The object is complete: from here on the handle resolves.
    void publish(newborn_place<T, Config>& place, caller who) noexcept {
        taken_ = false;
        add(shard_.created, 1); // before anybody can erase it
        add(shard_.closed, 1);
        parts_.publish_reserved(slots_type::slot_of(handle_), place.release(), who);
    }

private:
    parts_type& parts_;
    shard_type& shard_;
    value_type handle_;
    if_it_fails then_;
    bool taken_;
};

/// Handles that are given out before their objects are made.
template <class T, class Config>
class reservations {
    using parts_type = pool_state<T, Config>;
    using layout = typename Config::layout;
    using policy = typename Config::policy;
    using shard_type = shard<policy>;
    using slots_type = slot_table<Config>;
    using value_type = typename layout::value_type;
    using tag_type = typename layout::tag_type;

public:
    explicit reservations(parts_type& parts) noexcept : parts_(parts) {}

    /// Takes a slot and returns the handle of its next object. Zero when there is no slot.
    value_type reserve(shard_type& mine) noexcept {
        const slot_index slot = parts_.allocator.take(mine);
        if (slot == slot_index::none) {
            return 0;
        }
        const tag_type tag = parts_.table.next_tag(slot, parts_.fresh_tag);
        add(mine.reserved, 1); // before anybody can fulfill it
        parts_.table.reserve(slot, tag);
        return slots_type::handle_of(slot, tag);
    }

    /// Makes the object of a reserved handle by `construct(memory)`, unless that is refused. `mine` is null
    /// when the calling thread has no shard.
    template <class Construct>
    fulfill_outcome fulfill(shard_type* mine, value_type handle, Construct&& construct, caller who,
                            if_it_fails then = if_it_fails::keep) {
        if (mine == nullptr) {
            return fulfill_outcome::no_shard;
        }
        taken_reservation<T, Config> reservation(parts_, *mine, handle, then);
        if (!reservation.taken()) {
            return fulfill_outcome::not_reserved;
        }
        newborn_place<T, Config> place(parts_, *mine);
        if (!place.take()) {
            return fulfill_outcome::no_room;
        }
        construct(place.site());
        reservation.publish(place, who);
        return fulfill_outcome::done;
    }

    /// Makes an object by `construct(memory, handle)`, which learns the handle that the object will have.
    /// Zero when there is no slot or no room. When `construct` throws, the handle that it has seen is burnt.
    template <class Construct>
    value_type create_with(shard_type& mine, Construct&& construct, caller who) {
        const value_type handle = reserve(mine);
        const auto construct_told = [&](auto memory) { construct(memory, handle); };
        return handle != 0 &&
                       fulfill(&mine, handle, construct_told, who, if_it_fails::burn) == fulfill_outcome::done
                   ? handle
                   : 0;
    }

    /// Burns a handle that is reserved, and gives its slot back. False when it is not. `mine` is null when
    /// the calling thread has no shard.
    bool cancel(shard_type* mine, value_type handle, caller who) noexcept {
        if (!parts_.table.take_reservation(handle, slots_type::cancelled)) {
            return false;
        }
        if (mine != nullptr) {
            add(mine->closed, 1);
        } else {
            closed_without_shard_.fetch_add(1, std::memory_order::relaxed);
        }
        parts_.lives.ended(slots_type::slot_of(handle), layout::generation_of(layout::tag_of(handle)),
                           life_event::cancelled, who);
        burn_handle(parts_, handle);
        return true;
    }

    handle_state state(value_type handle) const noexcept {
        return parts_.table.state(handle, parts_.fresh_tag, [this](location where, value_type whose) {
            return !parts_.objects.is_dense(where) &&
                   parts_.newborns.owner(parts_.objects.nursery_position_of(where)) == whose;
        });
    }

    /// Handles that are reserved now. Exact while nobody reserves, fulfills or cancels.
    std::size_t count() const noexcept {
        // Closed first: concurrent operations make the result too large rather than too small.
        const std::uint64_t closed = parts_.shards.sum([](const shard_type& one) {
            return one.closed.load(std::memory_order::relaxed);
        }) + closed_without_shard_.load(std::memory_order::relaxed);
        const std::uint64_t reserved = parts_.shards.sum(
            [](const shard_type& one) { return one.reserved.load(std::memory_order::relaxed); });
        return reserved > closed ? reserved - closed : 0;
    }

    /// The first tag that no handle of the slot has, given out for an object or reserved. Only while nobody
    /// else uses the pool.
    tag_type unused_tag(slot_index slot, tag_type tag) const noexcept {
        const tag_type next = parts_.table.next_tag(slot, parts_.fresh_tag);
        return parts_.table.location_of(slot) == slots_type::reservation(next) ? slots_type::erased(next)
                                                                               : tag;
    }

    /// Forgets all; the shards have done so. Only while nobody else uses the pool.
    void reset() noexcept { closed_without_shard_.store(0, std::memory_order::relaxed); }

private:
    parts_type& parts_;
    // Cancelled by threads that found no shard.
    typename policy::template atomic<std::uint64_t> closed_without_shard_{0};
};

} // namespace handlepool::detail

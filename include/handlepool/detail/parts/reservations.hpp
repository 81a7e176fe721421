// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/numbers.hpp>
#include <handlepool/detail/base/raise.hpp>
#include <handlepool/detail/parts/lane.hpp>
#include <handlepool/detail/parts/pool_parts.hpp>
#include <handlepool/handle.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <utility>

namespace handlepool::detail {

/// What became of an attempt to fulfil a handle.
enum class fulfil_outcome { done, not_reserved, no_lane, no_room };

/// What becomes of a handle when its object can't be made.
enum class if_it_fails { keep, burn };

/// Makes a handle stale for ever before any object had it, and gives its slot back. Only for the thread that
/// has taken its reservation.
template <class T, class Config>
void burn_handle(pool_parts<T, Config>& parts, typename Config::layout::value_type handle) noexcept {
    using layout = typename Config::layout;
    parts.table.burn(handle);
    if (layout::generation_of(layout::tag_of(handle)) == layout::last_generation) {
        parts.allocator.retire(1);
    } else {
        parts.allocator.give_back(slot_table<Config>::slot_of(handle));
    }
}

/// The object of a handle that was reserved before, on its way: as a creation, but its slot is there already.
/// Unless it is published, the handle is reserved as before, or burnt.
template <class T, class Config>
class fulfilment {
    using parts_type = pool_parts<T, Config>;
    using lane_type = lane<typename Config::policy>;
    using slots_type = slot_table<Config>;
    using value_type = typename Config::layout::value_type;

public:
    fulfilment(parts_type& parts, lane_type& mine, value_type handle,
               if_it_fails then) noexcept(memory_by_touch)
        : parts_(parts), lane_(mine), handle_(handle), then_(then) {
        if (!parts_.table.take_reservation(handle_, slots_type::being_fulfilled)) {
            refusal_ = fulfil_outcome::not_reserved;
            return;
        }
        const nursery_position position = parts_.newborns.take(lane_.newborns);
        if (position == nursery_position::none) {
            give_up();
            refusal_ = fulfil_outcome::no_room;
            return;
        }
        const location where = parts_.objects.location_of(position);
        if (!parts_.objects.make_ready(where, 1)) [[unlikely]] {
            parts_.newborns.give_back(lane_.newborns, position);
            give_up();
            raise(std::bad_alloc());
        }
        where_ = where;
        parts_.objects.unpoison_objects(where_);
    }
    ~fulfilment() {
        if (begun()) {
            parts_.objects.poison_objects(where_);
            parts_.newborns.give_back(lane_.newborns, parts_.objects.nursery_position_of(where_));
            give_up();
        }
    }

    fulfilment(const fulfilment&) = delete;
    fulfilment& operator=(const fulfilment&) = delete;

    /// False when the handle was not reserved, or there is no room; refusal() says which.
    bool begun() const noexcept { return where_ != location::nowhere; }
    fulfil_outcome refusal() const noexcept { return refusal_; }
    auto memory() noexcept { return parts_.newborns.memory_at(parts_.objects, where_); }

    /// The object is complete: from here on the handle resolves.
    void publish() noexcept {
        add(lane_.created, 1); // before anybody can erase it
        add(lane_.settled, 1);
        parts_.publish_reserved(slot(), std::exchange(where_, location::nowhere));
    }

private:
    slot_index slot() const noexcept { return slots_type::slot_of(handle_); }

    void give_up() noexcept {
        if (then_ == if_it_fails::keep) {
            parts_.table.reserve(slot(), Config::layout::tag_of(handle_));
        } else {
            add(lane_.settled, 1);
            burn_handle(parts_, handle_);
        }
    }

    parts_type& parts_;
    lane_type& lane_;
    value_type handle_;
    if_it_fails then_;
    location where_ = location::nowhere; // or where the object is made, while the position is taken
    fulfil_outcome refusal_ = fulfil_outcome::done;
};

/// Handles that are given out before their objects are made.
template <class T, class Config>
class reservations {
    using parts_type = pool_parts<T, Config>;
    using layout = typename Config::layout;
    using policy = typename Config::policy;
    using lane_type = lane<policy>;
    using slots_type = slot_table<Config>;
    using value_type = typename layout::value_type;
    using tag_type = typename layout::tag_type;

public:
    explicit reservations(parts_type& parts) noexcept : parts_(parts) {}

    /// Takes a slot and returns the handle of its next object. Zero when there is no slot.
    value_type reserve(lane_type& mine) noexcept {
        const slot_index slot = parts_.allocator.take(mine);
        if (slot == slot_index::none) {
            return 0;
        }
        const tag_type tag = parts_.table.next_tag(slot, parts_.fresh_tag);
        add(mine.reserved, 1); // before anybody can fulfil it
        parts_.table.reserve(slot, tag);
        return slots_type::handle_of(slot, tag);
    }

    /// Makes the object of a reserved handle by `construct(memory)`, unless that is refused. `mine` is null
    /// when the calling thread has no lane.
    template <class Construct>
    fulfil_outcome fulfil(lane_type* mine, value_type handle, Construct construct,
                          if_it_fails then = if_it_fails::keep) {
        if (mine == nullptr) {
            return fulfil_outcome::no_lane;
        }
        fulfilment<T, Config> next(parts_, *mine, handle, then);
        if (!next.begun()) {
            return next.refusal();
        }
        construct(next.memory());
        next.publish();
        return fulfil_outcome::done;
    }

    /// Makes an object by `construct(memory, handle)`, which learns the handle that the object will have.
    /// Zero when there is no slot or no room. When `construct` throws, the handle that it has seen is burnt.
    template <class Construct>
    value_type create_with(lane_type& mine, Construct construct) {
        const value_type handle = reserve(mine);
        const auto construct_told = [&](auto memory) { construct(memory, handle); };
        return handle != 0 && fulfil(&mine, handle, construct_told, if_it_fails::burn) == fulfil_outcome::done
                   ? handle
                   : 0;
    }

    /// Burns a handle that is reserved, and gives its slot back. False when it is not. `mine` is null when
    /// the calling thread has no lane.
    bool cancel(lane_type* mine, value_type handle) noexcept {
        if (!parts_.table.take_reservation(handle, slots_type::cancelled)) {
            return false;
        }
        if (mine != nullptr) {
            add(mine->settled, 1);
        } else {
            settled_without_lane_.fetch_add(1, std::memory_order::relaxed);
        }
        burn_handle(parts_, handle);
        return true;
    }

    handle_state state(value_type handle) const noexcept {
        return parts_.table.state(handle, parts_.fresh_tag, [this](location where, value_type whose) {
            return !parts_.objects.is_dense(where) &&
                   parts_.newborns.owner(parts_.objects.nursery_position_of(where)) == whose;
        });
    }

    /// Handles that are reserved now. Exact while nobody reserves, fulfils or cancels.
    std::size_t count() const noexcept {
        // Settled first: concurrent operations make the result too large rather than too small.
        const std::uint64_t settled = parts_.lanes.sum([](const lane_type& one) {
            return one.settled.load(std::memory_order::relaxed);
        }) + settled_without_lane_.load(std::memory_order::relaxed);
        const std::uint64_t reserved = parts_.lanes.sum(
            [](const lane_type& one) { return one.reserved.load(std::memory_order::relaxed); });
        return reserved > settled ? reserved - settled : 0;
    }

    /// The first tag that no handle of the slot has, given out for an object or reserved. Only while nobody
    /// else uses the pool.
    tag_type unused_tag(slot_index slot, tag_type tag) const noexcept {
        const tag_type next = parts_.table.next_tag(slot, parts_.fresh_tag);
        return parts_.table.location_of(slot) == slots_type::reservation(next) ? slots_type::erased(next)
                                                                               : tag;
    }

    /// Forgets all; the lanes have done so. Only while nobody else uses the pool.
    void reset() noexcept { settled_without_lane_.store(0, std::memory_order::relaxed); }

private:
    parts_type& parts_;
    // Cancelled by threads that found no lane.
    typename policy::template atomic<std::uint64_t> settled_without_lane_{0};
};

} // namespace handlepool::detail

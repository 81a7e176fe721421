// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/base/least.hpp>
#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/detail/parts/pool_state.hpp>
#include <handlepool/placement.hpp>

#include <cstddef>
#include <cstdint>
#include <new>

namespace handlepool::detail {

/// The store of a pool as one thread changes it that is alone with it: objects come and go at once, and after
/// each step the store is as a compaction leaves it.
template <class T, class Config, class Placement = typename Config::placement>
class exclusive_store;

/// An object comes after the last one, and the last one fills each hole:
///
/// ```
///  add(e)    a b c d   ──▶  a b c d e          remove(b)    a b c d e  ──▶  a e c d
///              take() ──▶ ▲
/// ```
template <class T, class Config>
class exclusive_store<T, Config, dense_placement> {
    using parts_type = pool_state<T, Config>;

public:
    /// Whether several objects can be added at once, because their places are neighbours.
    static constexpr bool adds_many = true;
    /// Whether take() always finds a place for an object that has a slot.
    static constexpr bool always_has_places = true;

    /// The place of the next object. Throws std::bad_alloc.
    static location take(parts_type& parts) noexcept(memory_by_touch) { return take_many(parts, 1); }
    /// The first of the places of the next ones.
    static location take_many(parts_type& parts,
                              [[maybe_unused]] std::size_t count) noexcept(memory_by_touch) {
        if constexpr (!memory_by_touch) {
            if (parts.objects.make_room(count) < count) {
                throw_exception(std::bad_alloc());
            }
        }
        return location{parts.objects.size()};
    }
    /// No object was made there.
    static void give_back(const parts_type&, location) noexcept {}

    /// The object at the place that was taken last is the slot's, and has this handle.
    static void add(parts_type& parts, location where, slot_index slot,
                    typename Config::layout::value_type) noexcept {
        parts.objects.set_owner(parts.objects.dense_position_of(where), slot);
        parts.objects.resize(raw(where) + 1);
    }

    /// Whether the object at a place was added.
    static bool has(const parts_type& parts, location where) noexcept {
        return raw(where) < parts.objects.size();
    }

    /// Removes an object that was destroyed.
    static void remove(parts_type& parts, location where) noexcept {
        const std::uint32_t last = parts.objects.size() - 1;
        if (raw(where) != last) {
            parts.objects.relocate(location{last}, where);
            parts.own(parts.objects.dense_position_of(where), parts.objects.owner(dense_position{last}));
        }
        parts.objects.resize(last);
    }
    static void remove_all(parts_type& parts) noexcept { parts.objects.resize(0); }

    /// Calls `visit(place, slot)` for each object.
    template <class Visit>
    static void for_each(const parts_type& parts, Visit visit) {
        for (std::uint32_t i = 0, size = parts.objects.size(); i != size; ++i) {
            visit(location{i}, parts.objects.owner(dense_position{i}));
        }
    }
    /// Calls `visit(count, slot_at)` for runs of up to 64 objects: `slot_at(i)` is the slot of one.
    template <class Visit>
    static void for_each_run(const parts_type& parts, Visit visit) {
        for (std::uint32_t first = 0, size = parts.objects.size(); first != size;) {
            const std::uint32_t count = least(size - first, run_size);
            visit(std::size_t{count}, parts.objects.owners_from(dense_position{first}));
            first += count;
        }
    }

    /// Leaves the store to others, in the middle of the making of an object or not.
    static void end(const parts_type&, bool) noexcept {}

private:
    static constexpr std::uint32_t run_size = 64;
};

/// Objects stay where they are, and the next ones fill the holes: see stable_places.
template <class T, class Config>
class exclusive_store<T, Config, stable_placement> {
    using parts_type = pool_state<T, Config>;

public:
    static constexpr bool adds_many = false;
    static constexpr bool always_has_places = false;

    /// The place of the next object; nowhere when there is none. Throws std::bad_alloc.
    static location take(parts_type& parts) noexcept(memory_by_touch) {
        const nursery_position place = parts.newborns.take_alone([&parts](nursery_position soon) {
            parts.objects.prefetch_object(parts.objects.location_of(soon));
        });
        if (place == nursery_position::none) [[unlikely]] {
            return location::nowhere;
        }
        if (!parts.objects.make_ready(parts.objects.location_of(place), 1)) [[unlikely]] {
            parts.newborns.give_back_alone(place);
            throw_exception(std::bad_alloc());
        }
        return parts.objects.location_of(place);
    }
    static void give_back(parts_type& parts, location where) noexcept {
        parts.newborns.give_back_alone(place_of(parts, where));
    }

    static void add(parts_type& parts, location where, slot_index,
                    typename Config::layout::value_type handle) noexcept {
        parts.newborns.add_alone(place_of(parts, where), handle);
    }

    static bool has(const parts_type& parts, location where) noexcept {
        return parts.newborns.is_promoted(place_of(parts, where));
    }

    static void remove(parts_type& parts, location where) noexcept {
        parts.newborns.remove_alone(place_of(parts, where));
    }
    static void remove_all(parts_type& parts) noexcept {
        for_each(parts, [&parts](location where, slot_index) { remove(parts, where); });
    }

    template <class Visit>
    static void for_each(const parts_type& parts, Visit visit) {
        for (std::size_t group = 0, last = parts.newborns.groups(); group != last; ++group) {
            parts.newborns.for_each_promoted(group, [&](nursery_position place) {
                visit(parts.objects.location_of(place), parts.table.slot_of(parts.newborns.owner(place)));
            });
        }
    }

    template <class Visit>
    static void for_each_run(const parts_type& parts, Visit visit) {
        for (std::size_t group = 0, last = parts.newborns.groups(); group != last; ++group) {
            slot_index owners[64]; // a group has no more places
            std::size_t count = 0;
            parts.newborns.for_each_promoted(group, [&](nursery_position place) {
                owners[count++] = parts.table.slot_of(parts.newborns.owner(place));
            });
            visit(count, [&owners](std::size_t i) { return owners[i]; });
        }
    }

    static void end(parts_type& parts, bool is_making) noexcept { parts.newborns.end_alone(is_making); }

private:
    static nursery_position place_of(const parts_type& parts, location where) noexcept {
        return parts.objects.nursery_position_of(where);
    }
};

template <class T, class Config>
class exclusive_store<T, Config, recycling_placement> : public exclusive_store<T, Config, stable_placement> {
};

} // namespace handlepool::detail

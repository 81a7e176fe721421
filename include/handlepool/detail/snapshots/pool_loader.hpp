// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/base/least.hpp>
#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/detail/pool/pool_cut.hpp>
#include <handlepool/detail/recorder/caller.hpp>
#include <handlepool/detail/recorder/life_event.hpp>
#include <handlepool/detail/snapshots/saved_objects.hpp>
#include <handlepool/detail/snapshots/saved_pool.hpp>

#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <type_traits>

namespace handlepool::detail {

/// Makes a pool what a snapshot says that it was, between two frames:
///
/// ```
///   clear() until it is empty ──▶ make_room() ──▶ rewrite() ──▶ end of the frame ──▶ report_births()
///     what the pool had, with hooks                  ▲ can't fail, and nobody sees a part of it
/// ```
template <class T, class Config>
class pool_loader {
    using layout = typename Config::layout;
    using tag_type = typename layout::tag_type;
    using parts_type = pool_state<T, Config>;
    using cut_type = pool_cut<T, Config>;
    using placement = typename parts_type::placement;

public:
    /// Where the objects of a saved pool are, in their order: a function, which both arguments outlive.
    static auto locations_of(const parts_type& parts, const saved_pool& pool) noexcept {
        if constexpr (placement::stable) {
            return [&parts, &pool](std::size_t i) { return placement::location_of(parts, pool.places[i]); };
        } else {
            return consecutive_locations();
        }
    }

    /// Sees to it that there is memory for the objects of an empty pool. Throws std::bad_alloc.
    static void make_room([[maybe_unused]] cut_type& cut, [[maybe_unused]] const saved_pool& pool) {
        if constexpr (!memory_by_touch) {
            bool has_room = true;
            if constexpr (placement::stable) {
                for (const std::uint32_t place : pool.places) {
                    has_room = has_room &&
                               cut.parts().objects.make_ready(placement::location_of(cut.parts(), place), 1);
                }
            } else {
                has_room = cut.parts().objects.make_room(pool.owners.size()) >= pool.owners.size();
            }
            if (!has_room) {
                throw_exception(std::bad_alloc());
            }
        }
    }

    /// The empty pool becomes the other one; `put_in(location_at)` makes the objects there, in their order.
    template <class PutIn>
    static void rewrite(cut_type& cut, const saved_pool& pool, PutIn put_in) noexcept {
        parts_type& parts = cut.parts();
        const std::size_t in_service =
            greatest<std::size_t>(parts.allocator.list().fresh(), pool.generations.size());
        parts.fresh_tag = layout::make_tag(pool.id, pool.fresh_generation);
        cut.count_reserved(pool.reserved.size(), cut.reserved());
        cut.count_objects(pool.owners.size(), 0);
        cut.forget_lives();
        restore_slots(parts, pool, in_service);
        if constexpr (placement::stable) {
            parts.newborns.destroy_kept(parts.objects);
        }
        const auto location_at = locations_of(parts, pool);
        put_in(location_at);
        restore_owners(parts, pool, location_at);
        if constexpr (placement::stable) {
            restore_places(parts, pool);
        } else {
            parts.objects.resize(static_cast<std::uint32_t>(pool.owners.size()));
        }
        pool.allocator.restore(parts.allocator, parts.shards,
                               [&pool](std::size_t i) { return pool.waiting[i]; });
        parts.order.forget();
        cut.set_turn(pool.turn);
        cut.count_rewrite();
    }

    /// Tells hooks of the objects that have come, those that live when it is their turn.
    static void report_births(cut_type& cut, const saved_pool& pool) {
        if (!cut.watches_births()) {
            return;
        }
        for (const std::uint32_t slot : pool.owners) {
            cut.report_birth(slot_index{slot});
        }
    }

private:
    /// Those without objects.
    static void restore_slots(parts_type& parts, const saved_pool& pool, std::size_t in_service) noexcept {
        const std::span generations = pool.generations.all();
        for (std::uint32_t i = 0; i != in_service; ++i) {
            if (i < generations.size() && lives(generations[i])) {
                continue; // comes with its object
            }
            const slot_index slot{i};
            tag_type tag{};
            if (i < generations.size() && generations[i] != pool.fresh_generation) {
                tag = layout::make_tag(pool.id, generations[i]);
            }
            parts.table.restore(
                slot, {.tag = greatest<tag_type>(tag, parts.table.floor(slot)), .where = location::nowhere});
        }
        for (const std::uint32_t i : pool.reserved) {
            const slot_index slot{i};
            const tag_type tag = layout::make_tag(pool.id, generations[i]);
            parts.table.restore(slot, {.tag = tag, .where = parts.table.reservation(tag + 1)});
        }
    }

    /// Those with objects.
    template <class LocationAt>
    static void restore_owners(parts_type& parts, const saved_pool& pool, LocationAt location_at) noexcept {
        // What is written below could be the lists themselves, as far as the compiler knows.
        const std::span owners = pool.owners.all();
        const std::span generations = pool.generations.all();
        const tag_type id = pool.id;
        const caller who = parts.lives.from_here();
        for (std::size_t i = 0; i != owners.size(); ++i) {
            const slot_index slot{owners[i]};
            const location where = location_at(i);
            const tag_type tag = layout::make_tag(id, generations[raw(slot)]);
            parts.table.restore(slot, {.tag = tag, .where = where});
            parts.lives.began(slot, layout::generation_of(tag), life_event::loaded, who);
            if constexpr (placement::stable) {
                parts.newborns.states().note_put_in(parts.objects.nursery_position_of(where),
                                                    parts.table.handle_of(slot, tag));
            } else {
                parts.objects.set_owner(parts.objects.dense_position_of(where), slot);
            }
        }
        if (parts.watch.is_on()) {
            for (std::size_t i = 0; i != owners.size(); ++i) {
                const std::size_t position = placement::stable ? pool.places[i] : i;
                parts.watch.note_rewritten(dense_position{static_cast<std::uint32_t>(position)});
            }
        }
    }

    /// Those of a stable pool: compaction has all groups, and offers their holes.
    static void restore_places(parts_type& parts, const saved_pool& pool) noexcept {
        constexpr std::size_t size = placement::places::group_size;
        const std::span places = pool.places.all();
        const std::size_t groups = places.empty() ? 0 : places.back() / size + 1;
        auto& states = parts.newborns.states();
        states.take_from_all(parts.shards);
        std::size_t next = 0;
        states.offer_all(parts.objects, groups, [&](std::size_t group) {
            std::uint64_t promoted = 0;
            for (; next != places.size() && places[next] / size == group; ++next) {
                promoted |= std::uint64_t{1} << places[next] % size;
            }
            return promoted;
        });
    }
};

} // namespace handlepool::detail

// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/bit_runs.hpp>
#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/captures/captured_store.hpp>
#include <handlepool/detail/memory/pool_geometry.hpp>
#include <handlepool/detail/pool/pool_cut.hpp>
#include <handlepool/detail/snapshots/saved_pool.hpp>
#include <handlepool/detail/time/record_bytes.hpp>
#include <handlepool/freelist.hpp>
#include <handlepool/placement.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace handlepool::detail {

/// The number by which a snapshot names a placement.
constexpr std::uint32_t placement_number(dense_placement) noexcept {
    return 0;
}
constexpr std::uint32_t placement_number(stable_placement) noexcept {
    return 1;
}
constexpr std::uint32_t placement_number(recycling_placement) noexcept {
    return 2;
}

/// What a pool can take.
template <class T, class Config>
pool_limits_of_snapshot limits_of(const pool_impl<T, Config>& pool) noexcept {
    const pool_geometry& geometry = pool.geometry();
    return {.widths = widths_of_layout<typename Config::layout>(),
            .placement = placement_number(typename Config::placement{}),
            .id = pool.id(),
            .last_id = Config::layout::pool_id_mask,
            .last_generation = Config::layout::last_generation,
            .slot_limit = geometry.slot_limit,
            .objects = geometry.capacity,
            .places = captured_store<pool_state<T, Config>>::most_positions(geometry)};
}

/// Writes down what a pool is, between two frames, but for its objects.
template <class Config>
class pool_saver {
    using layout = typename Config::layout;
    using placement = typename Config::placement;

public:
    static_assert(capturable_freelist<typename Config::freelist>,
                  "the pool's freelist can't be written down: see the concept capturable_freelist");

    /// Its lists lie in those of `memory`, where these suffice. Throws std::bad_alloc.
    template <class T>
    static saved_pool describe(const pool_cut<T, Config>& cut, saved_pool memory = {}) {
        const auto& parts = cut.parts();
        saved_pool pool = std::move(memory);
        pool.widths = widths_of_layout<layout>();
        pool.placement = placement_number(placement{});
        pool.id = cut.id();
        pool.fresh_generation = generation_of(parts.fresh_tag);
        pool.turn = cut.turn();
        add_slots(parts, pool);
        add_objects(parts, pool);
        add_allocator(parts, pool);
        return pool;
    }

private:
    using tag_type = typename layout::tag_type;

    static std::uint32_t generation_of(tag_type tag) noexcept { return layout::generation_of(tag); }

    template <class Parts>
    static void add_slots(const Parts& parts, saved_pool& pool) {
        const std::size_t in_service = parts.allocator.list().fresh();
        std::vector<std::uint32_t>& generations = pool.generations.own();
        generations.resize(in_service);
        pool.reserved.clear();
        for (std::uint32_t i = 0; i != in_service; ++i) {
            const slot_index slot{i};
            const auto words = parts.table.words_of(slot);
            generations[i] = generation_of(parts.table.tag_or_fresh(words, parts.fresh_tag));
            if (parts.table.is_reserved(words, parts.fresh_tag)) {
                pool.reserved.push_back(i);
            }
        }
    }
    template <class Parts>
    static void add_objects(const Parts& parts, saved_pool& pool) {
        std::vector<std::uint32_t>& owners = pool.owners.own();
        std::vector<std::uint32_t>& places = pool.places.own();
        places.clear();
        if constexpr (std::is_same_v<placement, dense_placement>) {
            owners.resize(parts.objects.size());
            for (std::uint32_t i = 0, size = parts.objects.size(); i != size; ++i) {
                owners[i] = raw(parts.objects.owner(dense_position{i}));
            }
        } else {
            owners.clear();
            owners.reserve(parts.promoted());
            places.reserve(parts.promoted());
            for (std::size_t group = 0, last = parts.newborns.groups(); group != last; ++group) {
                parts.newborns.for_each_promoted(group, [&](nursery_position place) {
                    places.push_back(raw(place));
                    owners.push_back(raw(parts.table.slot_of(parts.newborns.owner(place))));
                });
            }
        }
    }
    template <class Parts>
    static void add_allocator(const Parts& parts, saved_pool& pool) {
        pool.allocator.take(parts.allocator, parts.shards);
        if (pool.allocator.returned.empty()) {
            pool.allocator.returned_word = 0; // else that of before a reset
        }
        pool.waiting.clear();
        pool.waiting.reserve(pool.allocator.freelist.waiting);
        parts.allocator.list().for_each_waiting(
            0, [&pool](std::uint32_t slot) { pool.waiting.push_back(slot); });
    }
};

} // namespace handlepool::detail

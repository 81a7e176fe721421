// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/marks/store_watch.hpp>
#include <handlepool/detail/memory/allocation_label.hpp>
#include <handlepool/detail/memory/pool_geometry.hpp>
#include <handlepool/detail/objects/object_store.hpp>
#include <handlepool/detail/objects/object_type.hpp>
#include <handlepool/detail/parts/begun_order.hpp>
#include <handlepool/detail/parts/object_keeper.hpp>
#include <handlepool/detail/parts/pool_config.hpp>
#include <handlepool/detail/parts/shard.hpp>
#include <handlepool/detail/parts/slot_allocator.hpp>
#include <handlepool/detail/queues/removal_queue.hpp>
#include <handlepool/detail/recorder/life_recorder.hpp>
#include <handlepool/detail/slots/slot_table.hpp>
#include <handlepool/detail/threads/access_gate.hpp>
#include <handlepool/memory_use.hpp>

#include <cstddef>
#include <cstdint>

namespace handlepool::detail {

/// What a pool is made of: everything that threads share, except the state of the compactor and the gate.
///
/// @tparam T object type, or void when it is known at run time only
template <class T, class Config>
struct pool_state {
    using config = Config;
    using layout = typename Config::layout;
    using policy = typename Config::policy;
    using value_type = typename layout::value_type;
    using tag_type = typename layout::tag_type;
    using pointer = typename object_store<T, policy>::pointer;
    using placement = placement_parts<Config>;
    static constexpr std::size_t column_count = object_store<T, policy>::column_count;

    // Captures copy objects before they end. Those that can only be moved are kept; others are never
    // captured.
    static constexpr bool keeps_objects = !object_type<T>::may_copy && object_type<T>::moves_nothrow;

    /// Slots start from `first_tag`, which is not alive.
    pool_state(const allocation_label& pool, const pool_geometry& sizes, tag_type first_tag,
               const object_type<T>& type = {})
        : geometry(sizes),
          fresh_tag(first_tag),
          lives(pool.part(" recorder"), sizes.slot_limit, sizes.capacity,
                sizes.removal_chunks * sizes.removal_chunk, sizes.record_lives, sizes.record_stack),
          table(pool.part(" slots"), sizes.slot_limit, sizes.capacity),
          objects(pool, sizes.dense_positions, sizes.nursery_chunks * sizes.nursery_chunk, sizes.capacity,
                  type),
          shards(pool.part(" shards"), sizes.max_threads, shards_before_threads(sizes)),
          allocator(pool.part(" freelist"), sizes, table, shards, lives),
          newborns(pool.part(" nursery"), sizes.nursery_chunks, sizes.nursery_chunk, shards.size()),
          removals(pool.part(" removal queues").rarely(), sizes.removal_chunks, sizes.removal_chunk,
                   sizes.removal_queue_size, shards.size()) {}

    pool_state(const pool_state&) = delete;
    pool_state& operator=(const pool_state&) = delete;

    /// The shard in which the calling thread creates and erases, or null. Where there are spawners, that is
    /// the first one, for the thread that has closed the gate alone.
    shard<policy>* mine() noexcept { return geometry.spawners == 0 ? shards.mine() : shard_of_closer(); }
    /// The first shards, which can have newborns and removals: how many there are must not follow from the
    /// threads that have used a pool with spawners.
    std::size_t working_shards() const noexcept {
        return geometry.spawners == 0 ? shards.count() : shards_before_threads(geometry);
    }
    /// Whether threads without a shard may end objects too.
    bool all_may_end() const noexcept { return geometry.spawners == 0; }
    /// A spawner's.
    shard<policy>& shard_of_spawner(std::size_t number) noexcept {
        return shards.other(static_cast<std::uint32_t>(number + 1));
    }

    /// Slots ever used are the first ones.
    std::size_t slots_in_service() const noexcept { return allocator.list().fresh(); }

    /// Calls `visit(slot, tag)` for each of them.
    template <class Visit>
    void for_each_slot(Visit visit) const {
        for (std::size_t index = 0, last = slots_in_service(); index < last; ++index) {
            const slot_index slot{static_cast<std::uint32_t>(index)};
            visit(slot, table.tag(slot));
        }
    }

    /// Calls `visit(handle, object)` for the living objects at these positions of the dense store.
    template <class Visit>
    void for_living_in(std::size_t first, std::size_t last, Visit visit) const {
        for (std::size_t i = first; i != last; ++i) {
            const dense_position position{static_cast<std::uint32_t>(i)};
            if (i + slots_ahead < last) {
                table.prefetch_slot(
                    objects.owner(dense_position{static_cast<std::uint32_t>(i + slots_ahead)}));
            }
            const slot_index slot = objects.owner(position);
            const tag_type tag = slot == slot_index::none ? tag_type{} : table.tag(slot);
            if (layout::is_alive(tag)) {
                visit(table.handle_of(slot, tag), objects.at(objects.location_of(position)));
            }
        }
    }

    /// Calls `visit(handle, object)` for the living objects in these slots that are in the nursery.
    template <class Visit>
    void for_living_newborns_in(std::size_t first, std::size_t last, Visit visit) const {
        for (std::size_t i = first; i != last; ++i) {
            const slot_index slot{static_cast<std::uint32_t>(i)};
            const tag_type tag = table.tag(slot);
            const location where = table.location_of(slot);
            if (layout::is_alive(tag) && !objects.is_dense(where)) {
                visit(table.handle_of(slot, tag), objects.at(where));
            }
        }
    }
    /// Objects that compaction has taken into the store.
    std::size_t promoted() const noexcept { return objects.size() + newborns.promoted(); }

    /// Objects ever created.
    std::uint64_t created() const noexcept {
        return shards.sum(
            [](const shard<policy>& one) { return one.created.load(std::memory_order::relaxed); });
    }

    /// Objects ever erased.
    std::uint64_t erased() const noexcept {
        return shards.sum([](const shard<policy>& one) {
            return one.erased.load(std::memory_order::relaxed);
        }) + erased_without_shard.load(std::memory_order::relaxed);
    }

    /// Makes the complete object at a location of the nursery the slot's, and returns its handle's value.
    value_type publish(slot_index slot, location where, caller who) noexcept {
        const tag_type tag = table.next_tag(slot, fresh_tag);
        const value_type handle = table.handle_of(slot, tag);
        newborns.own(objects.nursery_position_of(where), handle);
        lives.began(slot, layout::generation_of(tag), life_event::created, who);
        table.publish(slot, tag, where);
        return handle;
    }

    /// Like publish(), for a slot that was reserved.
    void publish_reserved(slot_index slot, location where, caller who) noexcept {
        const tag_type tag = table.next_tag(slot, fresh_tag);
        newborns.own(objects.nursery_position_of(where), table.handle_of(slot, tag));
        lives.began(slot, layout::generation_of(tag), life_event::created, who);
        table.publish_reserved(slot, tag, where);
    }

    /// Compaction: makes the object that was moved to a position the slot's. The location is a plain store,
    /// whether the object is being erased or not: an erase touches the tag alone.
    void own(dense_position position, slot_index slot) noexcept {
        objects.set_owner(position, slot);
        table.set_location(slot, objects.location_of(position));
    }

    /// Records how the life of a handle's object has ended.
    void note_end(value_type handle, life_event event, caller who) noexcept {
        lives.ended(table.slot_of(handle), layout::generation_of(layout::tag_of(handle)), event, who);
    }

    /// Queues the removal of an object whose life the caller has ended, with how it has ended. Returns false,
    /// and only records that, when there is no room after `tries`: then a sweep finds it.
    bool queue_removal(shard<policy>& mine, value_type handle, life_event event, caller who,
                       std::size_t tries = policy::removal_claim_tries) noexcept {
        const auto note = [&](std::size_t position) {
            lives.ended_in_queue(position, table.slot_of(handle),
                                 layout::generation_of(layout::tag_of(handle)), event, who);
        };
        if (removals.push(mine.removals, layout::without_user(handle), tries, note)) [[likely]] {
            return true;
        }
        note_end(handle, event, who);
        return false;
    }

    /// Gives a living object another handle, and returns it: zero when there is none.
    value_type revoke(value_type handle, caller who) noexcept {
        const value_type given = table.revoke(handle);
        if (given != 0) {
            lives.renamed(table.slot_of(given), layout::generation_of(layout::tag_of(given)), who);
            watch.note_revoked(table.slot_of(given));
        }
        return given;
    }

    /// Ends an object, unless somebody keeps it. Only while the gate is closed.
    void end_object(value_type handle, location where) noexcept {
        if (!has_keeper() || !keeper->keep(handle, where)) {
            newborns.end_object(objects, where);
        }
    }
    /// The object was handed over to somebody.
    void miss_object(value_type handle) noexcept {
        if (has_keeper()) {
            keeper->miss(handle);
        }
    }
    /// Tells those who follow the pool over time that an object of this slot ends, or has just ended.
    void note_ended(slot_index slot, location where) noexcept {
        if (placement::stable || objects.is_dense(where)) {
            watch.note_ended(slot, placement::position_of(*this, where));
        } else {
            watch.note_ended(slot);
        }
    }
    /// Returns whether somebody keeps objects that end.
    bool has_keeper() const noexcept { return keeps_objects && keeper != nullptr; }
    /// Returns whether something is done at the end of an object.
    bool ends_objects() const noexcept { return newborns.ends_objects(objects) || has_keeper(); }

    /// Forgets all objects and slots; all slots are retired when they are used up. Only while nobody else
    /// uses the pool.
    void reset(bool used_up) noexcept {
        for (std::size_t i = 0, last = shards.count(); i < last; ++i) {
            shards[i].reset();
        }
        table.reset();
        lives.reset();
        objects.reset();
        newborns.reset();
        removals.reset();
        allocator.reset(used_up);
        order.reset();
        erased_without_shard.store(0, std::memory_order::relaxed);
    }

    /// For programs that read this one's memory: all of a pool but its gate and its compactions. The columns
    /// last as long as the pool.
    void describe(described_pool& pool, described_column* columns) const noexcept {
        pool.capacity = geometry.capacity;
        pool.slot_table = table.described();
        pool.first_tag = &fresh_tag;
        objects.describe(columns, objects.locations());
        pool.columns = columns;
        pool.column_count = objects.column_count;
        pool.dense_positions = objects.capacity();
        pool.dense_size = objects.address_of_size();
        pool.owners = objects.described_owners();
        shard<policy>::describe(shards, pool);
        pool.erased_without_shard = &erased_without_shard;
        lives.describe(pool);
    }

    memory_use memory_beside_objects() const noexcept {
        return memory_of(table, lives, shards, allocator, newborns, removals, order, watch) +
               objects.memory_of_owners();
    }

    // How many objects ahead of the one that is visited its slot is asked for.
    static constexpr std::size_t slots_ahead = 16;

    HANDLEPOOL_NOINLINE shard<policy>* shard_of_closer() noexcept {
        return gate->is_closed_by_caller() ? &shards.other(0) : nullptr;
    }

    pool_geometry geometry;
    typename policy::template plain<tag_type> fresh_tag;
    life_recorder<policy> lives;
    slot_table<Config> table;
    object_store<T, policy> objects;
    shard_table<policy> shards;
    slot_allocator<Config> allocator;
    typename placement::places newborns;
    removal_queue<Config> removals;
    begun_order<policy> order;
    store_watch<policy> watch;
    object_keeper<value_type>* keeper = nullptr;
    /// The pool's, which knows who has closed it.
    const access_gate<shard<policy>>* gate = nullptr;
    /// Objects erased by threads that found no shard.
    typename policy::template atomic<std::uint64_t> erased_without_shard{0};
};

} // namespace handlepool::detail

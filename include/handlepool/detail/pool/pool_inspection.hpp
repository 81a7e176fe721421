// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/compaction/compactor.hpp>
#include <handlepool/detail/parts/pool_state.hpp>
#include <handlepool/detail/pool/handle_report.hpp>
#include <handlepool/detail/recorder/recorded_event.hpp>
#include <handlepool/recorded_life.hpp>
#include <handlepool/stats.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

/// Views of a pool, for reports. Any thread may ask at any time; each number is right by itself.
namespace handlepool::detail {

/// Objects whose handles resolve.
template <class T, class Config>
std::size_t count_alive(const pool_state<T, Config>& parts) noexcept {
    // Erased first: concurrent operations make the result too large rather than too small.
    const std::uint64_t erased = parts.erased();
    const std::uint64_t created = parts.created();
    return created > erased ? created - erased : 0;
}

/// What is recorded of a handle's life. Throws std::bad_alloc.
template <class T, class Config>
recorded_life recorded_life_in(const pool_state<T, Config>& parts,
                               typename Config::layout::value_type handle) {
    using layout = typename Config::layout;
    const auto tag = layout::tag_of(handle);
    const std::uint64_t index = layout::index_of(handle);
    if (!parts.lives.is_on() || index >= parts.table.size() || !layout::is_alive(tag) ||
        layout::pool_id_of(tag) != layout::pool_id_of(parts.fresh_tag)) {
        return {};
    }
    const slot_index slot = parts.table.slot_of(handle);
    const bool has_just_ended = parts.table.tag_relaxed(slot) == parts.table.erased(tag);
    return recorded_life_of(
        parts.lives, slot, layout::generation_of(tag), has_just_ended,
        [&parts](const life_record& record) { return recorded(record, parts.lives.frames_since(record)); });
}

/// What is known of a handle.
template <class T, class Config>
handle_report examine(typename Config::layout::value_type handle, handle_state state,
                      const pool_state<T, Config>& parts, const compactor<T, Config>& compactions) {
    using layout = typename Config::layout;
    const auto tag = layout::tag_of(handle);
    const std::uint64_t index = layout::index_of(handle);
    handle_report found{.null = handle == 0,
                        .fits_layout = layout::fits(handle),
                        .reserved = state == handle_state::reserved,
                        .index = index,
                        .generation = layout::generation_of(tag),
                        .pool_id = layout::pool_id_of(tag),
                        .own_pool_id = layout::pool_id_of(parts.fresh_tag),
                        .first_generation = layout::generation_of(parts.fresh_tag),
                        .slots_in_service = parts.slots_in_service()};
    found.life = recorded_life_in(parts, handle);
    found.lives_kept = parts.lives.lives_kept();
    if (const auto reset = parts.lives.last_reset(found.first_generation)) {
        found.last_reset = recorded(*reset, parts.lives.frames_since(*reset));
    }
    if (index < parts.table.size()) {
        const slot_index slot = parts.table.slot_of(handle);
        found.slot_generation = layout::generation_of(parts.table.tag_relaxed(slot));
        found.cancelled = parts.table.tag_relaxed(slot) == parts.table.erased(tag) &&
                          parts.table.location_of(slot) == parts.table.cancelled;
        if (const auto& history = compactions.history(); history.remembers()) {
            const std::uint64_t now = compactions.runs();
            // What no compaction has seen yet was created, or erased, since the last one.
            found.frames_since_birth = history.frames_since_birth(slot, tag, now).value_or(0);
            found.frames_since_death = history.frames_since_death(slot, tag, now).value_or(0);
        }
    }
    return found;
}

/// Handles of living objects, `most` at the most, the oldest first.
template <class Handle, class T, class Config>
std::vector<Handle> find_oldest(std::size_t most, const pool_state<T, Config>& parts,
                                const compactor<T, Config>& compactions) {
    using layout = typename Config::layout;
    std::vector<aged_handle> alive;
    const auto& history = compactions.history();
    parts.for_each_slot([&](slot_index slot, auto tag) {
        if (layout::is_alive(tag)) {
            const std::uint32_t frames =
                history.remembers() ? history.frames_since_birth(slot, tag, compactions.runs()).value_or(0)
                                    : 0;
            alive.push_back({.frames = frames,
                             .generation = layout::generation_of(tag),
                             .index = raw(slot),
                             .handle = parts.table.handle_of(slot, tag)});
        }
    });
    keep_oldest(alive, most);
    std::vector<Handle> result;
    for (const aged_handle& each : alive) {
        result.push_back(Handle::from_value(static_cast<typename layout::value_type>(each.handle)));
    }
    return result;
}

/// Asks the system for resident memory.
template <class T, class Config>
pool_stats view_of(const std::string& name, std::size_t alive, std::size_t reserved,
                   const pool_state<T, Config>& parts, const compactor<T, Config>& compactions) {
    const auto difference = [](std::uint64_t more, std::uint64_t less) -> std::size_t {
        return more > less ? more - less : 0;
    };
    pool_stats view;
    view.name = name;
    view.pool_id = Config::layout::pool_id_of(parts.fresh_tag);
    view.capacity = parts.geometry.capacity;
    view.alive = alive;
    view.dense = parts.promoted();
    view.destroyed = compactions.destroyed();
    view.created = parts.created();
    view.newborn = difference(view.created, compactions.left_nursery());
    view.waiting_removals = difference(view.created, view.alive + view.destroyed);
    view.slots_in_service = parts.slots_in_service();
    view.slots_free = parts.allocator.waiting();
    view.slots_claimed = parts.allocator.held();
    view.slots_reserved = reserved;
    view.slots_retired = parts.allocator.retired();
    view.slot_limit = parts.geometry.slot_limit;
    view.reuse_delay = parts.geometry.reuse_delay;
    // Two factors of at most 32 and 31 bits: it can't overflow.
    view.handle_limit = (parts.geometry.slot_limit - parts.geometry.reuse_delay) *
                        Config::layout::objects_after(Config::layout::generation_of(parts.fresh_tag));
    view.smallest_reuse_distance = parts.allocator.list().smallest_reuse_distance();
    view.shards = parts.shards.thread_count();
    view.compactions = compactions.runs();
    view.sweeps = compactions.sweeps();
    const memory_use of_objects =
        parts.objects.memory_of_objects(); // once: the system is asked about each page
    const memory_use all = of_objects + parts.memory_beside_objects() + compactions.memory();
    view.bytes_resident_in_objects = of_objects.resident;
    view.bytes_reserved = all.reserved;
    view.bytes_resident = all.resident;
    return view;
}

} // namespace handlepool::detail

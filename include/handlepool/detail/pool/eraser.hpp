// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/for_ranges_or_throw.hpp>
#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/base/scratch_array.hpp>
#include <handlepool/detail/compaction/compactor.hpp>
#include <handlepool/detail/parts/pool_state.hpp>
#include <handlepool/detail/parts/shard.hpp>
#include <handlepool/executor.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace handlepool::detail {

/// Ends the lives of objects: each handle is killed by exactly one call, which leaves the object to the next
/// compaction. A record in the shard's queue tells that of it, or an extraction; where there is none, a sweep
/// through all slots finds it.
template <class T, class Config>
class eraser {
public:
    using parts_type = pool_state<T, Config>;
    using compactor_type = compactor<T, Config>;
    using layout = typename Config::layout;
    using policy = typename Config::policy;
    using value_type = typename layout::value_type;
    using pointer = typename parts_type::pointer;

    eraser(parts_type& parts, compactor_type& compactions) noexcept
        : parts_(parts), compactor_(compactions) {}

    /// Any thread. Lock-free.
    bool erase(value_type handle, caller who, life_event event = life_event::erased) noexcept {
        return erase_in(parts_.mine(), handle, who, event);
    }
    /// The same with the thread's shard, if it has one.
    bool erase_in(shard<policy>* mine, value_type handle, caller who,
                  life_event event = life_event::erased) noexcept {
        if (mine == nullptr && !parts_.all_may_end()) [[unlikely]] {
            return false;
        }
        if (!parts_.table.kill(handle)) {
            return false;
        }
        if (mine == nullptr) [[unlikely]] {
            parts_.note_end(handle, event, who); // before anybody may destroy it
            count_erased(mine);
            compactor_.demand_sweep();
            return true;
        }
        if (!parts_.queue_removal(*mine, handle, event, who)) [[unlikely]] {
            compactor_.demand_sweep();
        }
        count_erased(mine);
        return true;
    }

    /// `sink(object)` is called by compaction.
    template <class Sink>
    bool extract(value_type handle, Sink sink, caller who) {
        if (!parts_.table.is_alive(handle)) {
            return false;
        }
        const bool taken = compactor_.extractions_of_threads().extract(
            parts_.table, layout::without_user(handle), std::move(sink),
            [&] { parts_.note_end(handle, life_event::extracted, who); });
        if (taken) {
            count_erased(parts_.mine());
        }
        return taken;
    }

    /// Erases the objects for which `predicate(object)` is true. Throws what that throws; then some are
    /// erased.
    template <executor Executor, class Predicate>
    std::size_t erase_if(Executor& executor, Predicate predicate, caller who) {
        typename policy::template atomic<std::size_t> erased{0};
        const auto erase_some = [&](auto for_each) {
            std::size_t some = 0;
            for_each([&](value_type handle, pointer object) {
                some += predicate(object) && erase(handle, who) ? 1U : 0U;
            });
            erased.fetch_add(some, std::memory_order::relaxed);
        };
        for_ranges_or_throw<policy>(executor, parts_.objects.size(), policy::compaction_grain,
                                    [&](std::size_t first, std::size_t last) {
                                        erase_some(
                                            [&](auto visit) { parts_.for_living_in(first, last, visit); });
                                    });
        if (placement::stable || compactor_.waiting_newborns() != 0) {
            for_ranges_or_throw<policy>(
                executor, parts_.slots_in_service(), policy::compaction_grain,
                [&](std::size_t first, std::size_t last) {
                    erase_some([&](auto visit) { parts_.for_living_newborns_in(first, last, visit); });
                });
        }
        return erased.load(std::memory_order::relaxed);
    }

    /// Leaves no records: they would name all objects, whose slots the next compaction looks at as fast.
    void clear(caller who, life_event event = life_event::cleared) noexcept {
        std::size_t cleared = 0;
        parts_.for_each_slot([&](slot_index slot, tag_type tag) {
            // Again when its handle was revoked.
            while (layout::is_alive(tag) && !parts_.table.kill(parts_.table.handle_of(slot, tag))) {
                tag = parts_.table.tag(slot);
            }
            if (layout::is_alive(tag)) {
                parts_.note_end(parts_.table.handle_of(slot, tag), event, who);
                ++cleared;
            }
        });
        if (cleared != 0) {
            compactor_.demand_sweep();
            count_erased(parts_.mine(), cleared);
        }
    }

    /// Takes all objects that are alive when it begins, by `sink(handle, object)`; returns how many. Only
    /// while the gate is closed.
    template <class Sink>
    std::size_t drain(Sink& sink, caller who) {
        // While the gate is closed no slot is freed: each of them has one object at the most to take.
        const std::size_t in_service = parts_.slots_in_service();
        scratch_array<value_type> taken(in_service);
        std::size_t count = 0;
        const auto take = [&](value_type handle, pointer) {
            // Again when its handle was revoked.
            while (layout::is_alive(layout::tag_of(handle)) && !parts_.table.kill(handle)) {
                const slot_index slot = parts_.table.slot_of(handle);
                handle = parts_.table.handle_of(slot, parts_.table.tag(slot));
            }
            if (layout::is_alive(layout::tag_of(handle))) {
                parts_.note_end(handle, life_event::drained, who);
                count_erased(parts_.mine());
                taken.data()[count++] = handle;
            }
        };
        parts_.for_living_in(0, parts_.objects.size(), take);
        parts_.for_living_newborns_in(0, in_service, take);
        inline_executor executor;
        compactor_.run(executor, unlimited, [&](auto end) {
            for (std::size_t i = 0; i != count; ++i) {
                end(taken[i], [&](pointer object) { sink(taken[i], object); });
            }
        });
        return count;
    }

private:
    using shard_type = shard<policy>;
    using tag_type = typename layout::tag_type;
    using placement = placement_parts<Config>;

    void count_erased(shard_type* mine, std::size_t objects = 1) noexcept {
        if (mine != nullptr) {
            add(mine->erased, objects);
        } else {
            parts_.erased_without_shard.fetch_add(objects, std::memory_order::relaxed);
        }
    }

    parts_type& parts_;
    compactor_type& compactor_;
};

} // namespace handlepool::detail

// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/base/least.hpp>
#include <handlepool/detail/compaction/newborn_collector.hpp>
#include <handlepool/detail/compaction/promotion_log.hpp>
#include <handlepool/detail/compaction/reaper.hpp>
#include <handlepool/detail/memory/allocation_label.hpp>
#include <handlepool/detail/memory/frame_list.hpp>
#include <handlepool/detail/memory/memory_of.hpp>
#include <handlepool/detail/parts/pool_state.hpp>
#include <handlepool/detail/queues/budget.hpp>
#include <handlepool/executor.hpp>
#include <handlepool/memory_use.hpp>

#include <cstddef>
#include <cstdint>

namespace handlepool::detail {

/// The second half of a compaction: moves the newborns into the holes and after the last object, and closes
/// the holes that are left by swap and pop; with the option `keep_order`, it first closes all holes in order.
template <class T, class Config>
class dense_promoter {
    using parts_type = pool_state<T, Config>;
    using policy = typename Config::policy;

public:
    dense_promoter(const allocation_label& what_for, parts_type& parts, reaper<T, Config>& holes,
                   promotion_log<T, Config>& births)
        : parts_(parts),
          holes_(holes),
          births_(births),
          newborns_(what_for, parts),
          moves_(what_for.part(" moves"), parts.geometry.object_limit) {}

    /// Returns how many positions of the nursery a compaction can drain, `budget` at most: no more than the
    /// dense store has memory for. Newborns that must wait stay where they are, and work.
    std::size_t most_newborns(std::size_t budget) noexcept {
        if constexpr (memory_by_touch) {
            return budget;
        } else {
            std::size_t pending = 0;
            for (std::size_t i = 0, last = parts_.shards.count(); i < last; ++i) {
                pending += parts_.newborns.consumer().pending(parts_.shards[i].newborns);
            }
            const std::size_t wanted = least(budget, pending);
            const std::size_t in_holes = least(wanted, holes_.hole_count());
            return least(budget, holes_.hole_count() + parts_.objects.make_room(wanted - in_holes));
        }
    }

    /// Moves the newborns that are ready into the holes and after the last object: those in as many positions
    /// as the budget allows. Returns how many. One that was erased meanwhile moves like the others: its
    /// removal comes with the next compaction. This thread does it, run by run.
    std::size_t take_newborns(const fair_budget& budget, std::uint64_t frame) {
        births_.begin(frame);
        std::size_t count = 0;
        newborns_.collect(budget, [&](nursery_position first, std::uint32_t ready) {
            count = take_run(first, ready, count, [this](std::size_t number, const move& one) {
                const dense_position ahead = place_of(number + objects_ahead);
                parts_.objects.prefetch_object(parts_.objects.location_of(ahead));
                parts_.objects.prefetch_owner(ahead);
                apply(one);
            });
        });
        return end(count);
    }

    /// The first of two steps for an executor: lists the newborns, and where they go. Returns how many.
    template <executor Executor>
    std::size_t collect_newborns(Executor& executor, const fair_budget& budget, std::uint64_t frame) {
        births_.begin(frame);
        std::size_t count = 0;
        newborns_.collect(executor, budget, [&](nursery_position first, std::uint32_t ready) {
            count = take_run(first, ready, count,
                             [this](std::size_t number, const move& one) { moves_[number] = one; });
        });
        moves_.filled(count);
        newborn_count_ = count;
        return count;
    }
    /// The second step: moves them.
    template <executor Executor>
    void place_newborns(Executor& executor) {
        apply_all(executor, newborn_count_);
        end(newborn_count_);
    }

    /// Swap and pop: fills the holes that newborns left open with survivors from the end of the dense store,
    /// and cuts it. Returns how many moved.
    template <executor Executor>
    std::size_t fill_holes(Executor& executor) {
        const std::size_t filled = newborn_count_;
        if (holes_.hole_count() <= filled) {
            return 0;
        }
        const auto size = static_cast<std::uint32_t>(parts_.objects.size() - (holes_.hole_count() - filled));
        // As many holes lie before the cut as survivors after it.
        std::size_t moved = 0;
        std::uint32_t survivor = parts_.objects.size();
        for (std::size_t i = filled; i != holes_.hole_count(); ++i) {
            if (const dense_position hole = holes_.hole(i); raw(hole) < size) {
                do {
                    --survivor;
                } while (owner_at(survivor) == slot_index::none);
                moves_[moved++] = {location{survivor}, hole, owner_at(survivor)};
            }
        }
        moves_.filled(moved);
        apply_all(executor, moved);
        parts_.objects.resize(size);
        return moved;
    }

    /// Comes before the newborns, in place of fill_holes(): closes the holes without changing the order of
    /// the survivors, each of which moves down by the number of holes before it, and cuts the store. Returns
    /// how many moved. Linear in what lies after the first hole.
    std::size_t close_holes_in_order() noexcept {
        if (holes_.hole_count() == 0) {
            return 0;
        }
        std::uint32_t to = raw(holes_.hole(0));
        for (std::size_t i = 1; i != holes_.hole_count(); ++i) {
            to = least(to, raw(holes_.hole(i)));
        }
        std::size_t moved = 0;
        for (std::uint32_t from = to, size = parts_.objects.size(); from != size; ++from) {
            if (from + objects_ahead < size) {
                parts_.table.prefetch_slot(owner_at(from + objects_ahead));
            }
            if (const slot_index slot = owner_at(from); slot != slot_index::none) {
                apply({location{from}, dense_position{to}, slot});
                ++to;
                ++moved;
            }
        }
        parts_.objects.resize(to);
        holes_.forget_holes();
        return moved;
    }

    /// Lets the memory of the lists follow their use.
    void end_frame() noexcept {
        newborns_.end_frame();
        moves_.end_frame();
    }
    /// Gives the memory of the lists back to the system.
    void shrink() noexcept {
        newborns_.shrink();
        moves_.discard();
    }

    memory_use memory() const noexcept { return memory_of(newborns_, moves_); }

private:
    template <class Value>
    using plain = typename policy::template plain<Value>;

    // The move of an object, from the nursery or the end of the dense store.
    struct move {
        plain<location> from;
        plain<dense_position> to;
        plain<slot_index> slot;
    };

    // How many moves ahead of the one that is applied its memory is asked for.
    static constexpr std::uint32_t objects_ahead = 16;

    /// Returns where the newborn of this number goes: into a hole, or after the last object.
    dense_position place_of(std::size_t newborn) const noexcept {
        return newborn < holes_.hole_count() ? holes_.hole(newborn)
                                             : dense_position{static_cast<std::uint32_t>(
                                                   parts_.objects.size() + (newborn - holes_.hole_count()))};
    }

    slot_index owner_at(std::uint32_t position) const noexcept {
        return parts_.objects.owner(dense_position{position});
    }

    /// Takes the newborns of a run out of the nursery, and calls `go(number, move)` for each. They are
    /// numbered from `count` on; returns the number after the last.
    template <class Go>
    std::size_t take_run(nursery_position first, std::uint32_t ready, std::size_t count, Go go) {
        const bool noted = births_.is_wanted();
        for (std::uint32_t i = 0; i != ready; ++i) {
            const nursery_position position{raw(first) + i};
            const auto handle = parts_.newborns.take_out(position);
            if (handle == 0) {
                continue;
            }
            const slot_index slot = parts_.table.slot_of(handle);
            if (noted) {
                births_.record(handle);
            }
            parts_.order.leave_out(slot);
            go(count, move{parts_.objects.location_of(position), place_of(count), slot});
            ++count;
        }
        return count;
    }

    /// Ends the step in which so many newborns were placed. Returns their number.
    std::size_t end(std::size_t count) noexcept {
        newborn_count_ = count;
        if (count > holes_.hole_count()) {
            parts_.objects.resize(
                static_cast<std::uint32_t>(parts_.objects.size() + (count - holes_.hole_count())));
        }
        return count;
    }

    void apply(const move& one) noexcept {
        const dense_position position = one.to;
        parts_.objects.relocate(one.from, parts_.objects.location_of(position));
        parts_.own(position, one.slot);
    }
    template <executor Executor>
    void apply_all(Executor& executor, std::size_t count) {
        const auto apply_some = [this](std::size_t first, std::size_t last) noexcept {
            for (std::size_t i = first; i != last; ++i) {
                if (i + objects_ahead < last) {
                    const move& next = moves_[i + objects_ahead];
                    parts_.table.prefetch_slot(next.slot);
                    parts_.objects.prefetch_object(parts_.objects.location_of(next.to));
                    parts_.objects.prefetch_owner(next.to);
                }
                apply(moves_[i]);
            }
        };
        executor.for_ranges(count, policy::compaction_grain, apply_some);
    }

    parts_type& parts_;
    reaper<T, Config>& holes_;
    promotion_log<T, Config>& births_;
    newborn_collector<T, Config> newborns_;
    frame_list<policy, move> moves_;
    plain<std::size_t> newborn_count_{0};
};

} // namespace handlepool::detail

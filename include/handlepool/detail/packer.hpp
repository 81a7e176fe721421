#pragma once

#include <handlepool/detail/birth_list.hpp>
#include <handlepool/detail/hole_closer.hpp>
#include <handlepool/detail/memory_of.hpp>
#include <handlepool/detail/memory_purpose.hpp>
#include <handlepool/detail/newborn_collector.hpp>
#include <handlepool/detail/numbers.hpp>
#include <handlepool/detail/pool_parts.hpp>
#include <handlepool/detail/reaper.hpp>
#include <handlepool/detail/slot_history.hpp>
#include <handlepool/detail/working_list.hpp>
#include <handlepool/executor.hpp>
#include <handlepool/memory_use.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

namespace handlepool::detail {

/// The second half of a compaction: moves the newborns into the holes and after the last object, and closes
/// the holes that are left by swap and pop.
template <class T, class Config>
class packer {
public:
    using parts_type = pool_parts<T, Config>;
    using layout = typename Config::layout;
    using policy = typename Config::policy;
    using value_type = typename layout::value_type;
    using reaper_type = reaper<T, Config>;
    using births_type = birth_list<T, Config>;

    packer(const memory_purpose& what_for, parts_type& parts, slot_history<policy>& history,
           births_type& births)
        : parts_(parts),
          history_(history),
          births_(births),
          newborns_(what_for, parts),
          moves_(what_for.part(" moves"), parts.geometry.object_limit) {}

    /// Lists the newborns that are ready, and where they go: those in at most `budget` positions, beginning
    /// with those of a lane. Returns how many.
    template <executor Executor>
    std::size_t collect_newborns(Executor& executor, const reaper_type& holes, std::size_t budget = unlimited,
                                 std::size_t first_lane = 0) {
        move_count_ = 0;
        newborns_.collect(executor, budget, first_lane, [&](nursery_position position) {
            const std::size_t newborn = move_count_++;
            moves_[newborn] = {parts_.objects.location_of(position), place_of(newborn, holes)};
        });
        moves_.filled(move_count_);
        return move_count_;
    }

    /// Moves them. One that was erased meanwhile moves like the others: its removal comes with the next
    /// compaction.
    template <executor Executor>
    void place_newborns(Executor& executor, const reaper_type& holes, std::uint64_t frame) {
        const bool recorded = births_.begin(move_count_);
        executor.for_ranges(
            move_count_, policy::compaction_grain, [&](std::size_t first, std::size_t last) noexcept {
                for (std::size_t i = first; i != last; ++i) {
                    if (i + objects_ahead < last) {
                        const move& next = moves_[i + objects_ahead];
                        parts_.slots.prefetch_slot(parts_.slots.slot_of(newborn_at(next.from)));
                        parts_.objects.prefetch_object(parts_.objects.location_of(next.to));
                        parts_.objects.prefetch_owner(next.to);
                    }
                    const location from = moves_[i].from;
                    const value_type handle = newborn_at(from);
                    const slot_index slot = parts_.slots.slot_of(handle);
                    apply(moves_[i], slot);
                    history_.born(slot, layout::tag_of(handle), frame);
                    if (recorded) {
                        births_.record(i, slot);
                    }
                    parts_.newborns.mark_gone(parts_.objects.nursery_position_of(from));
                }
            });
        if (move_count_ > holes.hole_count()) {
            parts_.objects.resize(
                static_cast<std::uint32_t>(parts_.objects.size() + (move_count_ - holes.hole_count())));
        }
    }

    /// Swap and pop: fills the holes that newborns left open with survivors from the end of the dense store,
    /// and cuts it. Returns how many moved.
    template <executor Executor>
    std::size_t fill_holes(Executor& executor, const reaper_type& holes) {
        const std::size_t filled = move_count_;
        if (holes.hole_count() <= filled) {
            return 0;
        }
        const auto size = static_cast<std::uint32_t>(parts_.objects.size() - (holes.hole_count() - filled));
        // As many holes lie before the cut as survivors after it.
        move_count_ = 0;
        std::uint32_t survivor = parts_.objects.size();
        for (std::size_t i = filled; i != holes.hole_count(); ++i) {
            if (const dense_position hole = holes.hole(i); raw(hole) < size) {
                do {
                    --survivor;
                } while (owner_at(survivor) == slot_index::none);
                moves_[move_count_++] = {location{survivor}, hole};
            }
        }
        moves_.filled(move_count_);
        executor.for_ranges(move_count_, policy::compaction_grain,
                            [this](std::size_t first, std::size_t last) noexcept {
                                for (std::size_t i = first; i != last; ++i) {
                                    if (i + objects_ahead < last) {
                                        const move& next = moves_[i + objects_ahead];
                                        parts_.slots.prefetch_slot(owner_of(next));
                                        parts_.objects.prefetch_object(parts_.objects.location_of(next.to));
                                    }
                                    apply(moves_[i], owner_of(moves_[i]));
                                }
                            });
        parts_.objects.resize(size);
        return move_count_;
    }

    /// In place of fill_holes, and before the newborns are collected: closes the holes without changing the
    /// order of the survivors. Returns how many moved.
    std::size_t close_holes_in_order(reaper_type& holes) {
        return detail::close_holes_in_order(parts_, holes);
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

    // Of an object, from the nursery or the end of the dense store.
    struct move {
        plain<location> from;
        plain<dense_position> to;
    };

    // How many moves ahead of the one that is applied its memory is asked for.
    static constexpr std::size_t objects_ahead = 16;

    /// Where the newborn of this number goes: into a hole, or after the last object.
    dense_position place_of(std::size_t newborn, const reaper_type& holes) const noexcept {
        return newborn < holes.hole_count() ? holes.hole(newborn)
                                            : dense_position{static_cast<std::uint32_t>(
                                                  parts_.objects.size() + (newborn - holes.hole_count()))};
    }

    value_type newborn_at(location where) const noexcept {
        return parts_.newborns.owner(parts_.objects.nursery_position_of(where));
    }
    slot_index owner_at(std::uint32_t position) const noexcept {
        return parts_.objects.owner(dense_position{position});
    }
    slot_index owner_of(const move& survivor) const noexcept {
        return parts_.objects.owner(parts_.objects.dense_position_of(survivor.from));
    }

    void apply(const move& one, slot_index slot) noexcept {
        const dense_position position = one.to;
        parts_.objects.relocate(one.from, parts_.objects.location_of(position));
        parts_.own(position, slot);
    }

    parts_type& parts_;
    slot_history<policy>& history_;
    births_type& births_;
    newborn_collector<T, Config> newborns_;
    working_list<policy, move> moves_;
    plain<std::size_t> move_count_{0};
};

} // namespace handlepool::detail

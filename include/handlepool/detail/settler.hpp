#pragma once

#include <handlepool/detail/birth_list.hpp>
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

#include <cstddef>
#include <cstdint>

namespace handlepool::detail {

/// The second half of a compaction where objects never move: takes the newborns into the store where they
/// are. It has the functions of packer.
template <class T, class Config>
class settler {
public:
    using parts_type = pool_parts<T, Config>;
    using layout = typename Config::layout;
    using policy = typename Config::policy;
    using value_type = typename layout::value_type;
    using reaper_type = reaper<T, Config>;
    using births_type = birth_list<T, Config>;

    settler(const memory_purpose& what_for, parts_type& parts, slot_history<policy>& history,
            births_type& births)
        : parts_(parts),
          history_(history),
          births_(births),
          newborns_(what_for, parts),
          born_(what_for.part(" newborns").rarely(), parts.geometry.object_limit) {}

    /// Settles the newborns that are ready, of at most `budget` places, beginning with those of a lane.
    /// Returns how many.
    template <executor Executor>
    std::size_t collect_newborns(Executor& executor, const reaper_type&, std::size_t budget = unlimited,
                                 std::size_t first_lane = 0) {
        const std::size_t before = parts_.newborns.settled();
        born_count_ = 0;
        if (births_.hooks().empty() && !history_.remembers()) {
            newborns_.collect(executor, budget, first_lane, [](nursery_position) {});
        } else {
            newborns_.collect(executor, budget, first_lane, [this](nursery_position place) {
                born_[born_count_] = parts_.newborns.owner(place);
                born_count_ = born_count_ + 1;
            });
        }
        born_.filled(born_count_);
        return parts_.newborns.settled() - before;
    }

    /// Remembers those that somebody wants to know of.
    template <executor Executor>
    void place_newborns(Executor&, const reaper_type&, std::uint64_t frame) noexcept {
        const bool recorded = births_.begin(born_count_);
        for (std::size_t i = 0; i != born_count_; ++i) {
            const slot_index slot = parts_.slots.slot_of(born_[i]);
            history_.born(slot, layout::tag_of(born_[i]), frame);
            if (recorded) {
                births_.record(i, slot);
            }
        }
    }

    // Holes are left to the objects to come.
    template <executor Executor>
    static std::size_t fill_holes(Executor&, const reaper_type&) noexcept {
        return 0;
    }

    static std::size_t close_holes_in_order(reaper_type&) noexcept { return 0; }

    /// Lets the memory of the lists follow their use.
    void end_frame() noexcept {
        newborns_.end_frame();
        born_.end_frame();
    }
    /// Gives the memory of the lists back to the system.
    void shrink() noexcept {
        newborns_.shrink();
        born_.discard();
    }

    memory_use memory() const noexcept { return memory_of(newborns_, born_); }

private:
    template <class Value>
    using plain = typename policy::template plain<Value>;

    parts_type& parts_;
    slot_history<policy>& history_;
    births_type& births_;
    newborn_collector<T, Config> newborns_;
    working_list<policy, plain<value_type>> born_;
    plain<std::size_t> born_count_{0};
};

} // namespace handlepool::detail

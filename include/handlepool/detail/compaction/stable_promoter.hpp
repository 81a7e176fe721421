// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/compaction/newborn_collector.hpp>
#include <handlepool/detail/compaction/promotion_log.hpp>
#include <handlepool/detail/compaction/reaper.hpp>
#include <handlepool/detail/memory/allocation_label.hpp>
#include <handlepool/detail/memory/frame_list.hpp>
#include <handlepool/detail/memory/memory_of.hpp>
#include <handlepool/detail/parts/pool_state.hpp>
#include <handlepool/detail/queues/budget.hpp>
#include <handlepool/detail/slots/slot_history.hpp>
#include <handlepool/executor.hpp>
#include <handlepool/memory_use.hpp>

#include <cstddef>
#include <cstdint>

namespace handlepool::detail {

/// The second half of a compaction where objects never move: takes the newborns into the store where they
/// are. It has the functions of dense_promoter.
template <class T, class Config>
class stable_promoter {
public:
    using parts_type = pool_state<T, Config>;
    using layout = typename Config::layout;
    using policy = typename Config::policy;
    using value_type = typename layout::value_type;
    using reaper_type = reaper<T, Config>;
    using births_type = promotion_log<T, Config>;

    stable_promoter(const allocation_label& what_for, parts_type& parts, slot_history<policy>& history,
                    births_type& births)
        : parts_(parts), history_(history), births_(births), newborns_(what_for, parts) {}

    /// All of them: each is promoted where it is.
    static std::size_t most_newborns(std::size_t budget, const reaper_type&) noexcept { return budget; }

    /// Promotes the newborns that are ready, in as many places as the budget allows. Returns how many.
    std::size_t take_newborns(const reaper_type&, const fair_budget& budget, std::uint64_t frame) {
        return promote(frame, [&](auto take) { newborns_.collect(budget, take); });
    }
    /// Promotes them with an executor.
    template <executor Executor>
    std::size_t collect_newborns(Executor& executor, const reaper_type&, const fair_budget& budget,
                                 std::uint64_t frame) {
        return promote(frame, [&](auto take) { newborns_.collect(executor, budget, take); });
    }
    template <executor Executor>
    static void place_newborns(Executor&, const reaper_type&) noexcept {}

    // Holes are left to the objects to come.
    template <executor Executor>
    static std::size_t fill_holes(Executor&, const reaper_type&) noexcept {
        return 0;
    }

    static std::size_t close_holes_in_order(reaper_type&) noexcept { return 0; }

    /// Lets the memory of the lists follow their use.
    void end_frame() noexcept { newborns_.end_frame(); }
    /// Gives the memory of the lists back to the system.
    void shrink() noexcept { newborns_.shrink(); }

    memory_use memory() const noexcept { return memory_of(newborns_); }

private:
    /// `drain(take)` calls `take(place)` for each.
    template <class Drain>
    std::size_t promote(std::uint64_t frame, Drain drain) {
        const std::size_t before = parts_.newborns.promoted();
        births_.begin();
        if (births_.hooks().empty() && !history_.remembers()) {
            drain([](nursery_position) {});
        } else {
            drain([this, frame](nursery_position place) {
                const value_type handle = parts_.newborns.owner(place);
                const slot_index slot = parts_.table.slot_of(handle);
                history_.born(slot, layout::tag_of(handle), frame);
                births_.record(slot);
            });
        }
        return parts_.newborns.promoted() - before;
    }

    parts_type& parts_;
    slot_history<policy>& history_;
    births_type& births_;
    newborn_collector<T, Config> newborns_;
};

} // namespace handlepool::detail

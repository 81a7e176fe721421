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
#include <handlepool/executor.hpp>
#include <handlepool/memory_use.hpp>

#include <cstddef>
#include <cstdint>

namespace handlepool::detail {

/// The second half of a compaction where objects never move: takes the newborns into the store where they
/// are. It has the functions of dense_promoter.
template <class T, class Config>
class stable_promoter {
    using parts_type = pool_state<T, Config>;

public:
    stable_promoter(const allocation_label& what_for, parts_type& parts, const reaper<T, Config>&,
                    promotion_log<T, Config>& births)
        : parts_(parts), births_(births), newborns_(what_for, parts) {}

    /// All of them: each is promoted where it is.
    static std::size_t most_newborns(std::size_t budget) noexcept { return budget; }

    /// Promotes the newborns that are ready, in as many places as the budget allows. Returns how many.
    std::size_t take_newborns(const fair_budget& budget, std::uint64_t frame) {
        return promote(frame, [&](auto take) { newborns_.collect(budget, take); });
    }
    /// Promotes them with an executor.
    template <executor Executor>
    std::size_t collect_newborns(Executor& executor, const fair_budget& budget, std::uint64_t frame) {
        return promote(frame, [&](auto take) { newborns_.collect(executor, budget, take); });
    }
    template <executor Executor>
    static void place_newborns(Executor&) noexcept {}

    // Holes are left to the objects to come.
    template <executor Executor>
    static std::size_t fill_holes(Executor&) noexcept {
        return 0;
    }
    static std::size_t close_holes_in_order() noexcept { return 0; }

    /// Lets the memory of the lists follow their use.
    void end_frame() noexcept { newborns_.end_frame(); }
    /// Gives the memory of the lists back to the system.
    void shrink() noexcept { newborns_.shrink(); }

    memory_use memory() const noexcept { return memory_of(newborns_); }

private:
    /// `collect(take)` calls `take(first place, count)` for each run of those that are ready.
    template <class Collect>
    std::size_t promote(std::uint64_t frame, Collect collect) {
        const std::size_t before = parts_.newborns.promoted();
        births_.begin(frame);
        if (births_.is_wanted()) {
            collect([this](nursery_position first, std::uint32_t ready) {
                parts_.newborns.promote(first, ready, [this](nursery_position place) {
                    births_.record(parts_.newborns.owner(place));
                });
            });
        } else {
            collect([this](nursery_position first, std::uint32_t ready) {
                parts_.newborns.promote(first, ready, [](nursery_position) {});
            });
        }
        return parts_.newborns.promoted() - before;
    }

    parts_type& parts_;
    promotion_log<T, Config>& births_;
    newborn_collector<T, Config> newborns_;
};

} // namespace handlepool::detail

#pragma once

#include <handlepool/detail/memory_of.hpp>
#include <handlepool/detail/newborn_collector.hpp>
#include <handlepool/detail/numbers.hpp>
#include <handlepool/detail/pool_parts.hpp>
#include <handlepool/detail/reaper.hpp>
#include <handlepool/detail/slot_history.hpp>
#include <handlepool/executor.hpp>
#include <handlepool/memory_use.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

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

    settler(std::string_view what_for, parts_type& parts, slot_history<policy>& history)
        : parts_(parts),
          history_(history),
          newborns_(what_for, parts),
          born_(std::string(what_for) + " newborns", parts.geometry.object_limit, 0) {}

    /// Settles the newborns that are ready. Returns how many.
    template <executor Executor>
    std::size_t collect_newborns(Executor& executor, const reaper_type&) {
        born_count_ = 0;
        newborns_.collect(executor, [this](nursery_position place) {
            born_[born_count_] = parts_.newborns.owner(place);
            born_count_ = born_count_ + 1;
        });
        return born_count_;
    }

    /// Remembers them.
    template <executor Executor>
    void place_newborns(Executor&, const reaper_type&, std::uint64_t frame) noexcept {
        for (std::size_t i = 0; history_.remembers() && i != born_count_; ++i) {
            history_.born(parts_.slots.slot_of(born_[i]), layout::tag_of(born_[i]), frame);
        }
    }

    // Holes are left to the objects to come.
    template <executor Executor>
    static std::size_t fill_holes(Executor&, const reaper_type&) noexcept {
        return 0;
    }

    static std::size_t close_holes_in_order(reaper_type&) noexcept { return 0; }

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
    newborn_collector<T, Config> newborns_;
    typename policy::template array<plain<value_type>> born_; // keeps its memory for the next compaction
    plain<std::size_t> born_count_{0};
};

} // namespace handlepool::detail

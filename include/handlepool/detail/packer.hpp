#pragma once

#include <handlepool/detail/pool_parts.hpp>
#include <handlepool/detail/reaper.hpp>
#include <handlepool/detail/slot_history.hpp>
#include <handlepool/executor.hpp>
#include <handlepool/memory_use.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

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

    packer(std::string_view what_for, parts_type& parts, slot_history<policy>& history)
        : parts_(parts),
          history_(history),
          moves_(std::string(what_for) + " moves", parts.geometry.object_limit, 0),
          stretches_(std::string(what_for) + " stretches of the nursery", parts.geometry.nursery_chunks, 0) {}

    /// Lists the newborns that are ready, and where they go. Returns how many.
    template <executor Executor>
    std::size_t collect_newborns(Executor& executor, const reaper_type& reaped) {
        const std::size_t stretches = find_stretches();
        executor.for_ranges(stretches, policy::compaction_grain / parts_.newborns.chunk_size() + 1,
                            [this](std::size_t first, std::size_t last) noexcept {
                                for (std::size_t i = first; i != last; ++i) {
                                    stretch& one = stretches_[i];
                                    one.ready =
                                        parts_.newborns.count_ready(one.first, one.last, parts_.slots);
                                }
                            });
        move_count_ = 0;
        for (std::size_t i = 0; i != stretches;) {
            const std::size_t lane = stretches_[i].lane;
            // Those before the first of the lane that is not ready.
            std::size_t ready = 0;
            for (bool all = true; i != stretches && stretches_[i].lane == lane; ++i) {
                if (all) {
                    ready += stretches_[i].ready;
                    all = stretches_[i].ready == stretches_[i].last - stretches_[i].first;
                }
            }
            parts_.newborns.drain(parts_.lanes[lane].newborns, ready, [&](std::uint32_t position) {
                const std::size_t newborn = move_count_++;
                moves_[newborn] = {parts_.location_of(position), place_of(newborn, reaped)};
            });
        }
        return move_count_;
    }

    /// Moves them. One that was erased meanwhile moves like the others: its removal comes with the next
    /// compaction.
    template <executor Executor>
    void place_newborns(Executor& executor, const reaper_type& reaped, std::uint64_t frame) {
        executor.for_ranges(move_count_, policy::compaction_grain,
                            [&](std::size_t first, std::size_t last) noexcept {
                                for (std::size_t i = first; i != last; ++i) {
                                    if (i + objects_ahead < last) {
                                        const move& next = moves_[i + objects_ahead];
                                        parts_.slots.prefetch_slot(layout::index_of(newborn_at(next.from)));
                                        parts_.dense.prefetch_object(next.to);
                                        parts_.dense.prefetch_owner(next.to);
                                    }
                                    const std::uint32_t from = moves_[i].from;
                                    const value_type handle = newborn_at(from);
                                    const auto slot = static_cast<std::uint32_t>(layout::index_of(handle));
                                    carry_out(from, moves_[i].to, slot);
                                    history_.born(slot, layout::tag_of(handle), frame);
                                    parts_.newborns.disown(from - parts_.dense.capacity());
                                }
                            });
        if (move_count_ > reaped.hole_count()) {
            parts_.dense.resize(
                static_cast<std::uint32_t>(parts_.dense.size() + (move_count_ - reaped.hole_count())));
        }
    }

    /// Swap and pop: fills the holes that newborns left open with survivors from the end of the dense store,
    /// and cuts it. Returns how many moved.
    template <executor Executor>
    std::size_t fill_holes(Executor& executor, const reaper_type& reaped) {
        const std::size_t filled = move_count_;
        if (reaped.hole_count() <= filled) {
            return 0;
        }
        const auto size = static_cast<std::uint32_t>(parts_.dense.size() - (reaped.hole_count() - filled));
        // As many holes lie before the cut as survivors after it.
        move_count_ = 0;
        std::uint32_t survivor = parts_.dense.size();
        for (std::size_t i = filled; i != reaped.hole_count(); ++i) {
            if (const std::uint32_t hole = reaped.hole(i); hole < size) {
                do {
                    --survivor;
                } while (parts_.dense.owner(survivor) == no_slot);
                moves_[move_count_++] = {survivor, hole};
            }
        }
        executor.for_ranges(move_count_, policy::compaction_grain,
                            [this](std::size_t first, std::size_t last) noexcept {
                                for (std::size_t i = first; i != last; ++i) {
                                    if (i + objects_ahead < last) {
                                        const move& next = moves_[i + objects_ahead];
                                        parts_.slots.prefetch_slot(parts_.dense.owner(next.from));
                                        parts_.dense.prefetch_object(next.to);
                                    }
                                    const std::uint32_t from = moves_[i].from;
                                    carry_out(from, moves_[i].to, parts_.dense.owner(from));
                                }
                            });
        parts_.dense.resize(size);
        return move_count_;
    }

    /// Gives the memory of the lists back to the system.
    void shrink() noexcept {
        moves_.discard();
        stretches_.discard();
    }

    memory_use memory() const noexcept { return memory_of(moves_, stretches_); }

private:
    template <class Value>
    using plain = typename policy::template plain<Value>;

    // Of an object that will stand elsewhere; both are locations.
    struct move {
        plain<std::uint32_t> from;
        plain<std::uint32_t> to;
    };

    // Positions of a lane's nursery, and how many of them, from the first on, can be drained.
    struct stretch {
        plain<std::size_t> lane;
        plain<std::uint32_t> first;
        plain<std::uint32_t> last;
        plain<std::uint32_t> ready;
    };

    // How many moves ahead of the one that is carried out its memory is asked for.
    static constexpr std::size_t objects_ahead = 16;

    /// Lists the positions of all lanes that were not drained yet.
    std::size_t find_stretches() {
        std::size_t count = 0;
        for (std::size_t i = 0, last_lane = parts_.lanes.count(); i < last_lane; ++i) {
            newborn_chain<policy>& queue = parts_.lanes[i].newborns;
            queue.vacated_seen.store(queue.vacated.load(std::memory_order::relaxed),
                                     std::memory_order::relaxed);
            parts_.newborns.for_pending(queue, [&](std::uint32_t first, std::uint32_t last) {
                stretches_[count++] = {i, first, last, 0};
            });
        }
        return count;
    }

    /// Where the newborn of this number goes: into a hole, or after the last object.
    std::uint32_t place_of(std::size_t newborn, const reaper_type& reaped) const noexcept {
        return newborn < reaped.hole_count()
                   ? reaped.hole(newborn)
                   : static_cast<std::uint32_t>(parts_.dense.size() + (newborn - reaped.hole_count()));
    }

    value_type newborn_at(std::uint32_t location) const noexcept {
        return parts_.newborns.owner(location - parts_.dense.capacity());
    }

    /// Moves an object and updates its slot's location. The location is a plain store, whether the object is
    /// being erased or not: an erase touches the tag alone.
    void carry_out(std::uint32_t from, std::uint32_t to, std::uint32_t slot) noexcept {
        parts_.dense.relocate(from, to);
        parts_.dense.set_owner(to, slot);
        parts_.slots.set_location(slot, to);
    }

    parts_type& parts_;
    slot_history<policy>& history_;
    // The lists keep their memory for the next compaction.
    typename policy::template array<move> moves_;
    typename policy::template array<stretch> stretches_;
    plain<std::size_t> move_count_{0};
};

} // namespace handlepool::detail

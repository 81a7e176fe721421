// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/base/least.hpp>
#include <handlepool/detail/memory/allocation_label.hpp>
#include <handlepool/detail/memory/described_pool.hpp>
#include <handlepool/detail/recorder/life_event.hpp>
#include <handlepool/memory_use.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace handlepool::detail {

/// The ends of lives whose removals wait for compaction: one for each position of the removal queues.
///
///     erase ──▶ removal queue   │ handle │ handle │ ...      compaction ──▶ lives of the slots
///               waiting ends    │  end   │  end   │ ...  ──────────────────────┘
///
/// Erased objects lie in any order, so that the memory of a slot's records is seldom near, and an erase would
/// have to wait for it. But it queues the removal in memory that it has just written next to; its end goes
/// there, too. Compaction asks for the memory of many slots together, and takes the ends over before a slot
/// is free.
///
/// Anyone may look for an end at any time. Who finds none in the slot's records may find it here; or it was
/// taken over meanwhile.
template <class Policy>
class waiting_ends {
public:
    waiting_ends(const allocation_label& what_for, std::size_t positions) : ends_(what_for, positions, 0) {}

    // Ends are put, and taken over, at a position of its own each: between the two, nobody else writes there.

    /// Who puts a removal at this position, before others can see that.
    void put(std::size_t position, slot_index slot, const life_record& end) noexcept {
        if (position >= reach_.load(std::memory_order::relaxed)) [[unlikely]] {
            reach(position);
        }
        waiting_end& one = ends_[position];
        // (57) release: pairs with (58), for what was here before, which is taken over by now
        one.who.store(static_cast<std::uint64_t>(end.who), std::memory_order::release);
        // (57) release: for the same
        one.stamp.store(end.stamp(), std::memory_order::release);
        // (57) release: for the same, and for the two words before it
        one.life.store(life_of(slot, end.generation), std::memory_order::release);
    }

    /// Compaction: calls `take(slot, end)` for the end that waits at this position, if one does, and then
    /// forgets it.
    template <class Take>
    void take(std::size_t position, Take take) noexcept {
        waiting_end& one = ends_[position];
        const std::uint64_t life = one.life.load(std::memory_order::relaxed); // carried by (8)
        if (life != 0) {
            take(slot_of(life), life_record::of(one.who.load(std::memory_order::relaxed),
                                                one.stamp.load(std::memory_order::relaxed)));
            // (57) release: pairs with (58), so that who finds that it has gone finds what `take` has written
            one.life.store(0, std::memory_order::release);
        }
    }
    /// Compaction: calls `visit(slot, generation)` for the life whose end waits there, if one does.
    template <class Visit>
    void visit(std::size_t position, Visit visit) const noexcept {
        const std::uint64_t life = ends_[position].life.load(std::memory_order::relaxed);
        if (life != 0) {
            visit(slot_of(life), static_cast<std::uint32_t>(life));
        }
    }

    /// The end of a life, if it waits; if it was taken over meanwhile, what take() has written can be seen
    /// afterwards. Any thread, wait-free. Linear in the positions ever used.
    std::optional<life_record> find(slot_index slot, std::uint32_t generation) const noexcept {
        for (std::size_t i = 0, last = reach_.load(std::memory_order::relaxed); i < last; ++i) {
            const waiting_end& one = ends_[i];
            // (58) acquire: pairs with (57)
            if (one.life.load(std::memory_order::acquire) != life_of(slot, generation)) {
                continue;
            }
            // (58) acquire: pairs with (57), so that who has read a word of another end sees that this one
            // has gone, and in the slot's records where to
            const std::uint64_t stamp = one.stamp.load(std::memory_order::acquire);
            // (58) acquire: for the same
            const std::uint64_t who = one.who.load(std::memory_order::acquire);
            // (58) acquire: so that what take() has written can be seen, if it has gone
            const bool waits = one.life.load(std::memory_order::acquire) == life_of(slot, generation);
            const life_record found = life_record::of(who, stamp);
            if (waits && found.generation == generation) {
                return found;
            }
        }
        return std::nullopt;
    }

    /// Forgets all. Only while nobody else uses the pool.
    void reset() noexcept {
        ends_.discard();
        reach_.store(0, std::memory_order::relaxed);
    }

    /// For programs that read this one's memory.
    void describe(described_pool& pool) const noexcept {
        pool.waiting_ends = {.first = ends_.data(), .stride = sizeof(waiting_end), .count = ends_.size()};
        pool.waiting_ends_reach = &reach_;
    }
    memory_use memory() const noexcept { return ends_.memory(); }

private:
    using word = typename Policy::template atomic<std::uint64_t>;
    struct waiting_end {
        word life; // a slot and a generation; 0 for none
        word who;
        word stamp;
    };

    // So that it seldom has to be raised.
    static constexpr std::uint64_t reach_step = 4096;

    HANDLEPOOL_NOINLINE void reach(std::size_t position) noexcept {
        const std::uint64_t wanted =
            least<std::uint64_t>((position / reach_step + 1) * reach_step, ends_.size());
        std::uint64_t reach = reach_.load(std::memory_order::relaxed);
        while (reach < wanted && !reach_.compare_exchange_weak(reach, wanted, std::memory_order::relaxed)) {
        }
    }

    // Generations of objects are odd, so this is not 0.
    static std::uint64_t life_of(slot_index slot, std::uint32_t generation) noexcept {
        return std::uint64_t{raw(slot)} << 32 | generation;
    }
    static slot_index slot_of(std::uint64_t life) noexcept {
        return slot_index{static_cast<std::uint32_t>(life >> 32)};
    }

    typename Policy::template array<waiting_end> ends_;
    // Below it are all positions that were ever used.
    word reach_{0};
};

} // namespace handlepool::detail

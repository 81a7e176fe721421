#pragma once

#include <handlepool/detail/config.hpp>
#include <handlepool/detail/nursery.hpp>
#include <handlepool/detail/per_thread_table.hpp>
#include <handlepool/detail/pin.hpp>
#include <handlepool/detail/removal_queue.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace handlepool::detail {

/// What one thread needs in order to work alone. It belongs to a thread index: when its thread ends, the next
/// thread with that index finds it as it was left. The words that others read are atomic, and only its thread
/// writes them; the consumer's ends of its queues are compaction's.
template <class Policy>
struct alignas(cache_line) lane : pin<Policy> {
    template <class Word>
    using atomic = typename Policy::template atomic<Word>;
    template <class Value>
    using plain = typename Policy::template plain<Value>;

    /// Padding after the claimed slots, so that prefetching may read past them.
    static constexpr std::size_t read_ahead = 8;

    /// Claimed slots that were not used yet: the last `held` of the first `claim_end` entries of `claimed`.
    atomic<std::uint32_t> held{0};
    plain<std::uint32_t> claim_end{0};
    /// Objects ever published, and ever erased, by the lane's threads.
    atomic<std::uint64_t> created{0};
    atomic<std::uint64_t> erased{0};

    newborn_chain<Policy> newborns;
    removal_chain<Policy> removals;

    std::uint32_t claimed[Policy::claim_size + read_ahead]{};

    /// For per_thread_table: its thread, which has this index, uses it for the first time.
    void enter(std::uint32_t index) noexcept {
        newborns.lane = index;
        pin<Policy>::enter(index);
    }

    /// Forgets slots, newborns and removals, whose memory is being forgotten too. Only while nobody uses the
    /// pool.
    void reset() noexcept {
        held.store(0, std::memory_order::relaxed);
        claim_end = 0;
        erased.store(created.load(std::memory_order::relaxed), std::memory_order::relaxed);
        newborns.reset();
        removals.records.reset();
        removals.drained.store(removals.queued.load(std::memory_order::relaxed), std::memory_order::relaxed);
    }
};

/// The lanes of a pool.
template <class Policy>
using lane_table = per_thread_table<lane<Policy>>;

} // namespace handlepool::detail

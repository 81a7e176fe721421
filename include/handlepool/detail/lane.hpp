#pragma once

#include <handlepool/detail/config.hpp>
#include <handlepool/detail/nursery.hpp>
#include <handlepool/detail/per_thread_table.hpp>
#include <handlepool/detail/pin.hpp>
#include <handlepool/detail/removal_queue.hpp>
#include <handlepool/detail/slot_claim.hpp>
#include <handlepool/policy.hpp>

#include <atomic>
#include <cstdint>

namespace handlepool::detail {

/// What one thread needs in order to work alone. It belongs to a thread index: when its thread ends, the next
/// thread with that index finds it as it was left. The words that others read are atomic, and only its thread
/// writes them; the consumer's ends of its queues are compaction's.
template <class Policy>
struct alignas(cache_line) lane : pin<Policy> {
    /// Objects ever published, and ever erased, by the lane's threads.
    typename Policy::template atomic<std::uint64_t> created{0};
    typename Policy::template atomic<std::uint64_t> erased{0};

    newborn_chain<Policy> newborns;
    removal_chain<Policy> removals;
    slot_claim<Policy> claim;

    /// For per_thread_table: its thread, which has this index, uses it for the first time.
    void enter(std::uint32_t index) noexcept {
        newborns.lane = index;
        pin<Policy>::enter(index);
    }

    /// Forgets slots, newborns and removals, whose memory is being forgotten too. Only while nobody uses the
    /// pool.
    void reset() noexcept {
        claim.reset();
        erased.store(created.load(std::memory_order::relaxed), std::memory_order::relaxed);
        newborns.reset();
        removals.reset();
    }
};

static_assert(sizeof(lane<default_policy>) % cache_line == 0);

/// The lanes of a pool.
template <class Policy>
using lane_table = per_thread_table<lane<Policy>>;

} // namespace handlepool::detail

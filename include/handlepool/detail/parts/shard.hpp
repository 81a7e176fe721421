// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/memory/described_pool.hpp>
#include <handlepool/detail/placement/newborn_positions.hpp>
#include <handlepool/detail/queues/removal_queue.hpp>
#include <handlepool/detail/slots/slot_claim.hpp>
#include <handlepool/detail/threads/per_thread_table.hpp>
#include <handlepool/detail/threads/pin.hpp>
#include <handlepool/policy.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace handlepool::detail {

/// The part of a pool that one thread needs in order to work alone. It belongs to a thread index: when its
/// thread ends, the next thread with that index finds it as it was left. Only its thread writes it, except
/// for the pin, which is lowered where a guard ends, and the consumer's ends of its queues, which are
/// compaction's. What others read is atomic.
template <class Policy>
struct alignas(cache_line) shard : pin<Policy> {
    /// Objects ever published, and ever erased, by the shard's threads.
    typename Policy::template atomic<std::uint64_t> created{0};
    typename Policy::template atomic<std::uint64_t> erased{0};
    /// Handles ever reserved by the shard's threads; and those that they fulfilled or cancelled, whoever had
    /// reserved them.
    typename Policy::template atomic<std::uint64_t> reserved{0};
    typename Policy::template atomic<std::uint64_t> closed{0};

    newborn_chain<Policy> newborns;
    removal_chain<Policy> removals;
    slot_claim<Policy> claim;

    /// For programs that read this one's memory.
    static void describe(const per_thread_table<shard>& shards, described_pool& pool) noexcept {
        pool.created = shards.described(&shard::created);
        pool.erased = shards.described(&shard::erased);
        pool.reserved = shards.described(&shard::reserved);
        pool.closed = shards.described(&shard::closed);
        pool.shard_count = shards.address_of_count();
    }

    /// Called by per_thread_table when the thread with this index uses the shard for the first time.
    void enter(std::uint32_t index) noexcept {
        newborns.shard = index;
        pin<Policy>::enter(index);
    }

    /// Forgets slots, newborns and removals, whose memory is being forgotten too. Only while nobody uses the
    /// pool.
    void reset() noexcept {
        claim.reset();
        erased.store(created.load(std::memory_order::relaxed), std::memory_order::relaxed);
        closed.store(reserved.load(std::memory_order::relaxed), std::memory_order::relaxed);
        newborns.reset();
        removals.reset();
    }
};

// Else compaction would write next to what the thread writes.
static_assert(offsetof(chunk_chain<default_policy>, get) % cache_line == 0);

/// The shards of a pool.
template <class Policy>
using shard_table = per_thread_table<shard<Policy>>;

} // namespace handlepool::detail

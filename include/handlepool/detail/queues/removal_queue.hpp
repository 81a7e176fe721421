// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/least.hpp>
#include <handlepool/detail/memory/allocation_label.hpp>
#include <handlepool/detail/queues/chunk_store.hpp>
#include <handlepool/memory_use.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace handlepool::detail {

/// The shard's part of its removal queue.
template <class Policy>
struct removal_chain {
    chunk_chain<Policy> records;
    // Records ever put in, and ever taken out.
    typename Policy::template atomic<std::uint64_t> queued{0};
    typename Policy::template atomic<std::uint64_t> drained{0};
    // Records ever put in when compaction last looked.
    typename Policy::template plain<std::uint64_t> seen{0};

    /// Any thread: exact for what happened before.
    bool empty() const noexcept { return pending() == 0; }
    std::size_t pending() const noexcept {
        const std::uint64_t before = drained.load(std::memory_order::relaxed);
        return static_cast<std::size_t>(queued.load(std::memory_order::relaxed) - before);
    }

    /// Makes it as new, but for the totals. Only while nobody uses it.
    void reset() noexcept {
        records.reset();
        drained.store(queued.load(std::memory_order::relaxed), std::memory_order::relaxed);
    }
};

/// Queues of erased handles, one for each shard, from its thread to compaction: one producer, one consumer.
/// They share their memory in chunks, so that what no shard uses costs none.
///
/// A queue is bounded, and a push that finds it full fails: the caller then demands a sweep.
template <class Config>
class removal_queue {
public:
    using layout = typename Config::layout;
    using policy = typename Config::policy;
    using value_type = typename layout::value_type;
    using chain = removal_chain<policy>;

    removal_queue(const allocation_label& what_for, std::size_t chunks, std::size_t chunk_size,
                  std::size_t limit, std::size_t max_threads = (std::numeric_limits<std::size_t>::max)())
        : limit_(limit),
          chunks_(what_for, chunks, chunk_size, max_threads),
          records_(what_for, chunks_.positions(), 0) {}

    /// Shard: queues a record. Returns false when its queue is full, or after `tries` lost exchanges; else
    /// calls `note(position)`, before others can see the record. Wait-free with bounded tries, else
    /// lock-free.
    template <class Note>
    bool push(chain& shard, value_type record, std::size_t tries, Note note) noexcept {
        const std::uint64_t queued = shard.queued.load(std::memory_order::relaxed);
        // A count of drained records that is seen late only makes the queue look fuller than it is.
        if (queued - shard.drained.load(std::memory_order::relaxed) >= limit_) [[unlikely]] {
            return false;
        }
        if (!chunks_.has_position(shard.records)) [[unlikely]] {
            if (!chunks_.extend(shard.records, tries)) {
                return false;
            }
        }
        const std::uint32_t position = chunks_.take_held(shard.records);
        records_[position] = record;
        note(position);
        // (7) release: pairs with (8), for the record, and for the object that the erasing thread saw
        // complete
        shard.queued.store(queued + 1, std::memory_order::release);
        return true;
    }

    bool push(chain& shard, value_type record, std::size_t tries = policy::removal_claim_tries) noexcept {
        return push(shard, record, tries, [](std::uint32_t) {});
    }

    /// Compaction: looks how many records the shard's queue has. It looks once: a queue that is filled all
    /// the time must not hold compaction up.
    void look(chain& shard) noexcept {
        // (8) acquire: pairs with (7)
        shard.seen = shard.queued.load(std::memory_order::acquire);
    }
    /// Compaction: returns how many records drain() takes.
    static std::size_t seen(const chain& shard) noexcept {
        return static_cast<std::size_t>(shard.seen - shard.drained.load(std::memory_order::relaxed));
    }
    /// Compaction: leaves all but the first `most` of those to the next look.
    static void limit(chain& shard, std::size_t most) noexcept {
        shard.seen = shard.drained.load(std::memory_order::relaxed) + least(seen(shard), most);
    }

    /// Compaction: takes the records that it has seen by runs of neighbours: calls `take(record, count,
    /// position)`, where `record(i)` is number i of a run, and `position` that of its first. They have left
    /// the queue before that, so that what `take` puts in finds room.
    template <class Take>
    void drain(chain& shard, Take take) {
        std::uint64_t drained = shard.drained.load(std::memory_order::relaxed);
        for (std::uint64_t left = shard.seen - drained; left != 0;) {
            chunks_.follow(shard.records);
            const std::uint32_t first = shard.records.get;
            const auto count =
                static_cast<std::uint32_t>(least<std::uint64_t>(left, shard.records.get_end - first));
            shard.records.get = first + count;
            drained += count;
            left -= count;
            shard.drained.store(drained, std::memory_order::relaxed);
            const auto* const run = records_.data() + first;
            take([run](std::size_t i) { return value_type{run[i]}; }, std::size_t{count}, first);
        }
    }

    /// Compaction: gives the drained chunks back.
    void recycle() { chunks_.recycle(); }

    /// Forgets everything. Only while nobody else uses it; the shards' chains must be made anew.
    void reset() noexcept { chunks_.reset(); }

    memory_use memory() const noexcept { return memory_of(chunks_, records_); }

private:
    std::size_t limit_;
    chunk_store<policy, typename Config::freelist> chunks_;
    typename policy::template array<typename policy::template plain<value_type>> records_;
};

} // namespace handlepool::detail

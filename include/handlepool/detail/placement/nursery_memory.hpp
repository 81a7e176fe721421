// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/bit_runs.hpp>
#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/base/least.hpp>
#include <handlepool/detail/memory/high_water_mark.hpp>
#include <handlepool/detail/memory/pool_geometry.hpp>
#include <handlepool/detail/placement/newborn_positions.hpp>
#include <handlepool/detail/slots/free_bitmap.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace handlepool::detail {

/// The memory of a nursery's chunks, which goes back to the system when frames don't need it any more:
///
/// ```
///  chunks      0 1 2 3 4 5 6 7 8 9 …
///  used by frames  ─────┘               drained chunks are claimed again first, the lowest ones first
///  kept            ─────────┘           see high_water_mark; of these, a shard first claims those that it
///  had touched         ───────────────┘     the memory of those between goes back, by trim()
/// ```
template <class Config>
class nursery_memory {
public:
    using policy = typename Config::policy;
    using chain = newborn_chain<policy>;

    explicit nursery_memory(newborn_positions<Config>& positions) noexcept : positions_(positions) {}

    /// Shard: notes a chunk that was given back before compaction has seen it. Relaxed: compaction claims the
    /// chunk before it gives its memory back.
    void note_unused(std::uint32_t chunk) noexcept {
        std::uint32_t end = unused_end_.load(std::memory_order::relaxed);
        while (end <= chunk &&
               !unused_end_.compare_exchange_weak(end, chunk + 1, std::memory_order::relaxed)) {
        }
    }
    /// Compaction: notes a chunk that was drained in this frame.
    void note_drained(std::uint32_t chunk) noexcept {
        drained_ = drained_ + 1;
        touched_.touch(std::size_t{chunk} + 1);
    }

    /// Compaction, when the drained chunks are noted: gives memory back that a frame doesn't usually need.
    /// Costs no more than the frame did.
    template <class Objects>
    void trim(Objects& objects) noexcept {
        touch_unused();
        touch_huge_page(objects);
        const auto cold = touched_.end_frame(drained_ + positions_.chunks.chunks_in_use());
        drained_ = 0;
        set_kept(touched_.touched());
        if (cold.first != cold.last) {
            discard(objects, cold.first, cold.last);
        }
    }

    /// Compaction: gives the memory of all chunks back that no shard holds. See shrink_held() for the others.
    template <class Objects>
    void shrink(Objects& objects) noexcept {
        touch_unused();
        if (touched_.touched() != 0) { // else there is nothing new since the last time
            touched_.touch(positions_.chunks.chunks_in_service()); // also behind a chunk that a shard holds
        }
        touch_huge_page(objects);
        discard(objects, 0, touched_.touched());
        touched_.discarded();
        set_kept(0);
    }
    /// Compaction: gives the memory of the positions back that were passed in the chunk that a shard holds;
    /// with those that the shard has still to take, if it is the calling thread's. Of another thread's these
    /// are out of reach, even when that has ended: the next one with its number may take them at any time.
    template <class Objects>
    void shrink_held(Objects& objects, const chain& shard, bool mine) noexcept {
        std::uint32_t left = mine ? std::uint32_t{shard.positions.put} : 0;
        const std::uint32_t left_end = mine ? std::uint32_t{shard.positions.put_end} : 0;
        positions_.for_held(shard, [&](std::uint32_t first, std::uint32_t next) {
            const bool together = next == left; // they may share a page
            positions_.discard(objects, first, together ? left_end : next);
            left = together ? left_end : left;
        });
        positions_.discard(objects, left, left_end);
    }

    /// The first chunks, which keep their memory in most frames. Any thread; relaxed: a chunk beyond costs
    /// time alone.
    std::size_t kept() const noexcept { return kept_.load(std::memory_order::relaxed); }

    /// Forgets the memory, which was dropped. Only while nobody else uses it.
    void reset() noexcept {
        touched_.discarded();
        set_kept(0);
        drained_ = 0;
        unused_end_.store(0, std::memory_order::relaxed);
    }

private:
    template <class Value>
    using plain = typename policy::template plain<Value>;

    void set_kept(std::size_t chunks) noexcept {
        if (chunks != kept()) { // else shards would lose the line in each frame
            kept_.store(chunks, std::memory_order::relaxed);
        }
    }

    /// The chunks that shards have given back unused may have memory.
    void touch_unused() noexcept {
        if (unused_end_.load(std::memory_order::relaxed) != 0) { // rarely: the exchange is dear
            touched_.touch(unused_end_.exchange(0, std::memory_order::relaxed));
        }
    }

    /// In a huge page, chunks that nobody has used have memory, too. This frame is taken to have used them,
    /// and those that were never in service become unused ones, so that all of it can go back.
    template <class Objects>
    void touch_huge_page(const Objects& objects) noexcept {
        const std::size_t touched = touched_.touched();
        if (touched <= kept()) {
            return;
        }
        auto& chunks = positions_.chunks;
        const std::size_t size = chunks.chunk_size();
        const auto last = nursery_position{static_cast<std::uint32_t>(touched * size)};
        const std::size_t end = (raw(objects.end_of_huge_page(last)) + size - 1) / size;
        if (end != touched) {
            chunks.put_in_service(least(end, chunks.chunks()), chunks_to_hold(chunks.chunks()));
            touched_.touch(least(end, chunks.chunks_in_service()));
            drained_ = drained_ + (touched_.touched() - touched);
        }
    }

    /// Gives the memory of those of the chunks back that no shard holds. It takes them from the shards
    /// meanwhile, a few at a time, so that shards always find others.
    template <class Objects>
    void discard(Objects& objects, std::size_t first, std::size_t last) noexcept {
        constexpr std::size_t word_size = free_bitmap<policy>::bits_per_word;
        static_assert(word_size == chunks_of_piece);
        const std::size_t size = positions_.chunks.chunk_size();
        auto& free = positions_.chunks.given_back();
        for (std::size_t end = last; end != first;) {
            const std::size_t word = (end - 1) / word_size;
            const std::size_t begin = greatest(greatest(first, word * word_size),
                                               end - least(end, chunks_to_hold(positions_.chunks.chunks())));
            const std::uint64_t taken = free.claim_word(word, bits_from(begin % word_size, end - begin));
            for_each_run(word * word_size, taken, [&](std::size_t run, std::size_t run_end) {
                positions_.discard(objects, run * size, run_end * size);
            });
            if (taken != 0) {
                free.give_back_word(word, taken);
            }
            end = begin;
        }
        free.rewind();
    }

    newborn_positions<Config>& positions_;
    // Compaction's: the chunks that have memory, how many had after the last trim(), and how many were
    // drained since.
    high_water_mark<policy> touched_{policy::warm_chunks};
    typename policy::template atomic<std::size_t> kept_{0};
    plain<std::size_t> drained_{0};
    // After the last chunk that a shard gave back whole: its memory may have been touched.
    typename policy::template atomic<std::uint32_t> unused_end_{0};
};

} // namespace handlepool::detail

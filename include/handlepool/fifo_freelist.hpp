// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/base/least.hpp>
#include <handlepool/detail/memory/allocation_label.hpp>
#include <handlepool/detail/slots/freelist_counters.hpp>
#include <handlepool/memory_use.hpp>

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace handlepool {

/// The native freelist: entries that are claimed before they are read, so that a claim which loses its
/// exchange has lost little.
///
/// The entries lie in blocks, and a ring of block numbers, with room for all indices that can wait, says
/// which. A claim stays within a block. It looks up the block, moves `head` by compare-exchange, reads the
/// entries that are now its own, and then adds them to the number of those that were read of the block.
/// A block is used again when all of it has been read: memory follows the number of indices that wait, where
/// a ring of entries would wander through all of itself.
///
/// A thread that is stopped in a claim keeps its block, and no other: the producer puts blocks aside that
/// `head` has passed and that are still being read.
template <class Policy>
class fifo_freelist {
public:
    /// An empty freelist; `what_for` is for messages. Throws reservation_failed.
    fifo_freelist(const freelist_memory& what_for, freelist_options options)
        : counters_(options),
          ring_(what_for.rarely(), std::bit_ceil(blocks_of_waiting(options)), 0),
          read_(what_for.rarely(), blocks_of_waiting(options) + most_claims(options), 0),
          put_aside_(what_for.rarely(), read_.size(), 0),
          entries_(what_for.rarely(), read_.size() * block_size, 0) {}

    /// Any thread, lock-free; see the concept `freelist`.
    std::size_t claim(std::uint32_t* out, std::size_t wanted, std::size_t in_use_limit,
                      std::size_t tries = detail::unlimited) noexcept {
        for (; tries != 0; --tries) {
            const auto seen = counters_.see(wanted, in_use_limit);
            if (seen.freed_count != 0) {
                // Of an earlier round of the ring if others have claimed meanwhile; then the exchange fails.
                const entry_run freed = first_freed(seen);
                if (counters_.try_take_freed(seen, freed.count)) {
                    copy(freed, out);
                    // (48) release: pairs with (49): the reads above come before the next use of the entries'
                    // memory
                    read_[freed.block].fetch_add(freed.count, std::memory_order::release);
                    return freed.count;
                }
            } else if (seen.fresh_count == 0 || counters_.try_take_fresh(seen, out)) {
                return seen.fresh_count;
            }
        }
        return 0;
    }

    /// What a thread may call while no other uses the freelist; see the concept `sequential_freelist`.
    /// Progress: wait-free.
    std::size_t claim_alone(std::uint32_t* out, std::size_t wanted, std::size_t in_use_limit) noexcept {
        const auto seen = counters_.see(wanted, in_use_limit);
        if (seen.freed_count == 0) {
            if (seen.fresh_count != 0) {
                counters_.take_fresh_alone(seen, out);
            }
            return seen.fresh_count;
        }
        const entry_run freed = first_freed(seen);
        counters_.take_freed_alone(seen.waiting, freed.count);
        copy(freed, out);
        note_read_alone(freed.block, freed.count);
        return freed.count;
    }
    /// There must be none left of the claim before.
    std::size_t claim_in_place(std::size_t wanted, std::size_t in_use_limit) noexcept {
        end_claim();
        const auto seen = counters_.see(wanted, in_use_limit);
        if (seen.freed_count == 0) {
            return 0;
        }
        const entry_run freed = first_freed(seen);
        claimed_from_ = seen.waiting;
        claimed_ = freed.block * block_size + freed.offset;
        claimed_begin_ = claimed_;
        claimed_end_ = claimed_ + freed.count;
        return freed.count;
    }
    std::size_t claimed_left() const noexcept { return claimed_end_ - claimed_; }
    std::uint32_t claimed(std::size_t i) const noexcept {
        return entries_[claimed_ + i].load(std::memory_order::relaxed);
    }
    std::uint32_t take_claimed() noexcept {
        const std::uint32_t first = claimed(0);
        claimed_ = claimed_ + 1;
        return first;
    }
    /// Only now the counters show as claimed what was taken; so meanwhile its block is not written again.
    void end_claim() noexcept {
        if (claimed_ != claimed_begin_) {
            const auto taken = static_cast<std::uint32_t>(claimed_ - claimed_begin_);
            counters_.take_freed_alone(claimed_from_, taken);
            note_read_alone(claimed_begin_ / block_size, taken);
        }
        claimed_begin_ = claimed_;
        claimed_end_ = claimed_;
    }

    /// Producer: gives an index back, for claims after the next publish().
    /// Progress: wait-free.
    void release(std::uint32_t index) noexcept {
        if (write_ % block_size == 0) [[unlikely]] {
            start_block();
        }
        const std::size_t place = write_;
        entries_[place].store(index, std::memory_order::relaxed); // carried by (12)
        write_ = place + 1;
    }

    /// Producer: release() of `count` indices, each of which `index_at(i)` returns.
    /// Progress: wait-free.
    template <class IndexAt>
    void release_many(std::size_t count, IndexAt index_at) noexcept {
        for (std::size_t done = 0; done != count;) {
            if (write_ % block_size == 0) {
                start_block();
            }
            const std::size_t place = write_;
            const std::size_t in_block = detail::least(count - done, block_size - place % block_size);
            word* const entries = &entries_[place];
            for (std::size_t i = 0; i != in_block; ++i) {
                entries[i].store(index_at(done + i), std::memory_order::relaxed); // carried by (12)
            }
            write_ = place + in_block;
            done += in_block;
        }
    }

    /// Producer: lets claims take what was released.
    /// Progress: wait-free.
    void publish() noexcept { counters_.publish(freed()); }

    /// Producer: indices ever given back. Wait-free.
    std::uint64_t released() const noexcept { return freed() - start_; }

    /// As newly made, with `fresh` indices in use. Only while nobody else uses the freelist.
    void reset(std::size_t fresh) noexcept { start_at(fresh, 0); }

    /// See the concept `capturable_freelist`. Linear in the indices that wait.
    freelist_position position() const noexcept {
        return {.claimed = counters_.claimed(), .waiting = counters_.waiting(), .fresh = counters_.fresh()};
    }
    template <class Visit>
    void for_each_waiting(std::size_t first, Visit visit) const {
        const std::uint64_t head = counters_.claimed();
        for (std::uint64_t i = head + first, end = head + counters_.waiting(); i < end; ++i) {
            const std::size_t block = place_of(i / block_size).load(std::memory_order::relaxed);
            visit(entries_[block * block_size + i % block_size].load(std::memory_order::relaxed));
        }
    }
    template <class IndexAt>
    void restore(const freelist_position& position, IndexAt index_at) noexcept {
        const std::uint64_t ever_released = released();
        start_at(position.fresh, position.claimed);
        release_many(position.waiting, index_at);
        publish();
        start_ = freed() - ever_released; // which never becomes less
    }

    /// See the concept `dealable_freelist`.
    freelist_stock stock(std::size_t in_use_limit) const noexcept { return counters_.stock(in_use_limit); }
    void look_at_stock(std::size_t first, std::size_t count, std::uint32_t* out) const noexcept {
        const std::uint64_t begin = counters_.claimed() + first;
        for (std::uint64_t number = begin; number != begin + count;) {
            const std::size_t block = place_of(number / block_size).load(std::memory_order::relaxed);
            const std::size_t offset = number % block_size;
            const entry_run some{.block = block,
                                 .offset = offset,
                                 .count = static_cast<std::uint32_t>(detail::least<std::uint64_t>(
                                     begin + count - number, block_size - offset))};
            copy(some, out + (number - begin));
            number += some.count;
        }
    }
    void take_stock(freelist_stock stock) noexcept {
        const std::uint64_t head = counters_.claimed();
        for (std::size_t taken = 0; taken != stock.freed;) {
            const std::size_t in_block =
                detail::least(stock.freed - taken, block_size - (head + taken) % block_size);
            note_read_alone(place_of((head + taken) / block_size).load(std::memory_order::relaxed),
                            static_cast<std::uint32_t>(in_block));
            taken += in_block;
        }
        if (stock.freed != 0) {
            counters_.take_freed_alone(counters_.waiting(), stock.freed);
        }
        counters_.put_in_service(stock.fresh);
    }

    /// A moment's view, described in the concept `freelist`. Any thread; wait-free.
    std::size_t in_use() const noexcept { return counters_.in_use(); }
    std::size_t waiting() const noexcept { return counters_.waiting(); }
    std::size_t fresh() const noexcept { return counters_.fresh(); }
    std::size_t limit() const noexcept { return counters_.limit(); }
    std::size_t smallest_reuse_distance() const noexcept { return counters_.smallest_reuse_distance(); }

    /// Memory of the blocks and of what is known of them. Asks the system about each page.
    memory_use memory() const noexcept { return detail::memory_of(ring_, read_, put_aside_, entries_); }

protected:
    /// Starts with `fresh` indices in use, and with the counters at `position`, as if that many indices had
    /// been freed and claimed.
    void start_at(std::size_t fresh, std::uint64_t position) noexcept {
        counters_.set(fresh, position);
        write_ = 0;
        begun_ = position / block_size;
        passed_ = begun_;
        blocks_used_ = 0;
        aside_ = 0;
        start_ = position;
        claimed_from_ = 0;
        claimed_ = 0;
        claimed_begin_ = 0;
        claimed_end_ = 0;
        if (const std::size_t claimed = position % block_size; claimed != 0) {
            start_block();
            read_[write_ / block_size].store(static_cast<std::uint32_t>(claimed), std::memory_order::relaxed);
            write_ = write_ + claimed;
        }
    }

private:
    using word = typename Policy::template atomic<std::uint32_t>;
    template <class Value>
    using plain = typename Policy::template plain<Value>;

    // A power of two, and so is the ring's size: no seam where a counter overflows.
    static constexpr std::size_t block_size = Policy::freelist_block;
    static_assert(std::has_single_bit(block_size));

    /// The most blocks that waiting entries lie in: the first one is the last of its block.
    static constexpr std::size_t blocks_of_waiting(const freelist_options& options) noexcept {
        return (detail::greatest<std::size_t>(options.waiting_limit, 1) + block_size - 2) / block_size + 1;
    }
    /// The most claims that can be under way: each has taken at least one of the indices.
    static constexpr std::size_t most_claims(const freelist_options& options) noexcept {
        return detail::least(options.max_threads, options.waiting_limit);
    }

    word& place_of(std::uint64_t block) noexcept { return ring_[block & (ring_.size() - 1)]; }
    const word& place_of(std::uint64_t block) const noexcept { return ring_[block & (ring_.size() - 1)]; }

    /// Producer: chooses where the next entries go.
    void start_block() noexcept {
        end_claim(); // else a block that was read whole would keep its place in the ring
        const std::uint32_t block = unused_block();
        read_[block].store(0, std::memory_order::relaxed);         // carried by (12)
        place_of(begun_).store(block, std::memory_order::relaxed); // carried by (12)
        begun_ = begun_ + 1;
        write_ = std::size_t{block} * block_size;
    }

    /// Producer: a block that has been read, or one that has no memory yet.
    std::uint32_t unused_block() noexcept {
        // First, so that of each thread no more than one claim looks unfinished: its last one that this head
        // shows. There are enough blocks only for that.
        const std::uint64_t claimed = counters_.claimed();
        // The ring comes before what was put aside: it has no room for blocks that nobody waits for.
        while (static_cast<std::int64_t>(claimed - (passed_ + 1) * block_size) >= 0) {
            const std::uint32_t block = place_of(passed_).load(std::memory_order::relaxed);
            passed_ = passed_ + 1;
            if (was_read(block)) {
                return block;
            }
            put_aside_[aside_] = block;
            aside_ = aside_ + 1;
        }
        for (std::size_t i = 0; i != aside_; ++i) {
            const std::uint32_t block = put_aside_[i];
            if (was_read(block)) {
                aside_ = aside_ - 1;
                put_aside_[i] = put_aside_[aside_];
                return block;
            }
        }
        const std::uint32_t block = blocks_used_;
        blocks_used_ = block + 1;
        return block;
    }

    /// Producer: returns whether all entries of a full block have been read.
    bool was_read(std::uint32_t block) const noexcept {
        // (49) acquire: pairs with (48), so that entries are written again after their reading
        return read_[block].load(std::memory_order::acquire) == block_size;
    }

    /// Entries of one block that a claim may take.
    struct entry_run {
        std::size_t block;
        std::size_t offset;
        std::uint32_t count;
    };
    /// The first of the freed entries that a claim has seen, as far as their block goes.
    entry_run first_freed(const typename detail::freelist_counters<Policy>::view& seen) noexcept {
        const std::size_t offset = seen.head % block_size;
        return {.block = place_of(seen.head / block_size).load(std::memory_order::relaxed), // carried by (13)
                .offset = offset,
                .count = static_cast<std::uint32_t>(detail::least(seen.freed_count, block_size - offset))};
    }
    void copy(const entry_run& from, std::uint32_t* out) const noexcept {
        for (std::size_t i = 0; i < from.count; ++i) {
            out[i] = entries_[from.block * block_size + from.offset + i].load(std::memory_order::relaxed);
        }
    }

    /// While no other thread uses the freelist.
    void note_read_alone(std::size_t block, std::uint32_t count) noexcept {
        word& read = read_[block];
        read.store(read.load(std::memory_order::relaxed) + count, std::memory_order::relaxed);
    }

    /// Producer: indices ever freed, from where the counters started.
    std::uint64_t freed() const noexcept {
        const std::uint64_t not_written =
            (block_size - write_ % block_size) % block_size; // of the last block
        return begun_ * block_size - not_written;
    }

    detail::freelist_counters<Policy> counters_;
    typename Policy::template array<word> ring_;
    typename Policy::template array<word> read_; // of each block, how many of its entries
    typename Policy::template array<plain<std::uint32_t>> put_aside_; // blocks, of the producer alone
    typename Policy::template array<word> entries_;

    // Of the producer alone.
    // The next place among the entries, or the end of a block.
    alignas(detail::cache_line) plain<std::size_t> write_{0};
    plain<std::uint64_t> begun_{0};       // blocks ever put into the ring
    plain<std::uint64_t> passed_{0};      // blocks ever taken from the ring
    plain<std::uint32_t> blocks_used_{0}; // blocks that have memory
    plain<std::size_t> aside_{0};         // blocks put aside
    plain<std::uint64_t> start_{0};       // where the counters started

    // Of a thread alone: how many indices waited when it claimed some in place; the entries that it has
    // claimed, of one block, and the next of them.
    plain<std::size_t> claimed_from_{0};
    plain<std::size_t> claimed_{0};
    plain<std::size_t> claimed_begin_{0};
    plain<std::size_t> claimed_end_{0};
};

} // namespace handlepool

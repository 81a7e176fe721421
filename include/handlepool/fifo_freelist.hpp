#pragma once

#include <handlepool/config.hpp>
#include <handlepool/freelist.hpp>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

namespace handlepool {

/// The native freelist: a queue of indices with 64-bit counters that never wrap, read before it is claimed.
///
/// A claim loads `head`, then `tail`, reads the entries between, and only then moves `head` by
/// compare-exchange: it keeps what it read only if nobody had claimed in between. The other order, move and
/// then read, would let the producer lap a thread that was stopped in between and hand one index out twice.
///
/// The entries lie in blocks, and a ring of block numbers, with room for all indices that can wait, says
/// which. A block is used again as soon as `head` has passed it: memory follows the number of indices that
/// wait, where a ring of entries would wander through all of itself. Indices that were never used come from a
/// counter.
template <class Policy>
class fifo_freelist {
public:
    fifo_freelist(std::string_view what_for, freelist_options options)
        : options_(options),
          blocks_(what_for, std::bit_ceil(options.waiting_limit / block_size + 2), 0),
          entries_(what_for, blocks_.size() * block_size, 0) {}

    /// Any thread, lock-free; see the concept `freelist`.
    std::size_t claim(std::uint32_t* out, std::size_t wanted, std::size_t in_use_limit,
                      std::size_t tries = std::numeric_limits<std::size_t>::max()) noexcept;

    void release(std::uint32_t index) noexcept {
        if (freed_ % block_size == 0) {
            start_block();
        }
        entries_[write_].store(index, std::memory_order::relaxed); // carried by (12)
        write_ = write_ + 1;
        freed_ = freed_ + 1;
    }

    void publish() noexcept {
        // (12) release: pairs with (13), for the entries and for all that the producer did to what they name
        tail_.store(freed_, std::memory_order::release);
    }

    /// Starts the counters at `position`, as after so many claims. Only before the first use; for tests of
    /// what happens far into a pool's life. Starts the counters at `position`, as after so many claims. Only
    /// before the first use; for tests of what happens far into a pool's life.
    void preset(std::uint64_t position) noexcept {
        head_.store(position, std::memory_order::relaxed);
        tail_.store(position, std::memory_order::relaxed);
        freed_ = position;
        passed_ = position / block_size;
        blocks_used_ = 0;
        if (position % block_size != 0) {
            start_block();
            write_ = write_ + position % block_size;
        }
    }

    void reset(std::size_t fresh) noexcept {
        fresh_.store(fresh, std::memory_order::relaxed);
        preset(0);
    }

    std::size_t in_use() const noexcept {
        const std::size_t waiting_before =
            waiting(); // a lower bound, so that fewer are never seen in service
        return fresh() - waiting_before;
    }
    std::size_t waiting() const noexcept {
        // acquire, for the order of the loads alone: what is claimed between them makes the result smaller,
        // never larger than what waits
        const std::uint64_t tail = tail_.load(std::memory_order::acquire);
        const std::uint64_t head = head_.load(std::memory_order::relaxed);
        return static_cast<std::size_t>(std::max<std::int64_t>(0, static_cast<std::int64_t>(tail - head)));
    }
    std::size_t fresh() const noexcept {
        return static_cast<std::size_t>(fresh_.load(std::memory_order::relaxed));
    }
    std::size_t limit() const noexcept { return options_.index_limit; }
    std::size_t smallest_reuse_distance() const noexcept { return reuse_distance_.get(); }

    std::size_t bytes_reserved() const noexcept {
        return blocks_.bytes_reserved() + entries_.bytes_reserved();
    }
    std::size_t bytes_resident() const noexcept {
        return blocks_.bytes_resident() + entries_.bytes_resident();
    }

private:
    template <class Word>
    using atomic = typename Policy::template atomic<Word>;
    template <class Value>
    using plain = typename Policy::template plain<Value>;

    static constexpr std::size_t block_size = Policy::freelist_block;
    static_assert(
        std::has_single_bit(block_size)); // and so is the ring's size: no seam where a counter overflows

    atomic<std::uint32_t>& place_of(std::uint64_t block) noexcept {
        return blocks_[block & (blocks_.size() - 1)];
    }
    const atomic<std::uint32_t>& place_of(std::uint64_t block) const noexcept {
        return blocks_[block & (blocks_.size() - 1)];
    }

    /// Producer: chooses where the next entries go.
    void start_block() noexcept {
        std::uint32_t block = 0;
        // (30) acquire: pairs with (15), so that the block is not written before the claims that passed it
        // have read it
        const std::uint64_t head = head_.load(std::memory_order::acquire);
        if (static_cast<std::int64_t>(head - (passed_ + 1) * block_size) >= 0) {
            block = place_of(passed_).load(std::memory_order::relaxed);
            passed_ = passed_ + 1;
        } else {
            block = blocks_used_;
            blocks_used_ = block + 1;
        }
        place_of(freed_ / block_size).store(block, std::memory_order::relaxed); // carried by (12)
        write_ = std::size_t{block} * block_size;
    }

    /// Copies `count` entries from `position` on; garbage if others have claimed them meanwhile.
    void read(std::uint64_t position, std::size_t count, std::uint32_t* out) const noexcept {
        while (count != 0) {
            const std::size_t offset = static_cast<std::size_t>(position % block_size);
            const std::size_t part = std::min(count, block_size - offset);
            const std::size_t block = place_of(position / block_size).load(std::memory_order::relaxed);
            for (std::size_t i = 0; i < part; ++i) {
                out[i] = entries_[block * block_size + offset + i].load(std::memory_order::relaxed);
            }
            position += part;
            count -= part;
            out += part;
        }
    }

    freelist_options options_;
    typename Policy::template array<atomic<std::uint32_t>> blocks_;
    typename Policy::template array<atomic<std::uint32_t>> entries_;

    // Of the producer alone.
    plain<std::size_t> write_{0};         // next place among the entries
    plain<std::uint64_t> freed_{0};       // indices ever freed
    plain<std::uint64_t> passed_{0};      // blocks ever used again, in the order of the ring
    plain<std::uint32_t> blocks_used_{0}; // blocks that have memory

    alignas(cache_line) atomic<std::uint64_t> fresh_{0};
    reuse_distance<Policy> reuse_distance_;
    alignas(cache_line) atomic<std::uint64_t> head_{0};
    alignas(cache_line) atomic<std::uint64_t> tail_{0};
};

template <class Policy>
std::size_t fifo_freelist<Policy>::claim(std::uint32_t* out, std::size_t wanted, std::size_t in_use_limit,
                                         std::size_t tries) noexcept {
    for (; tries != 0; --tries) {
        // The order of the three loads makes the number in use a lower bound of the true one at the time of
        // the last load: a claim is refused only when the limit was reached. (10) acquire: pairs with (11),
        // so that the tail that let another thread take a fresh index is seen too
        std::uint64_t fresh = fresh_.load(std::memory_order::acquire);
        // (14) acquire: pairs with (15), so that the tail loaded next is not behind this head
        std::uint64_t head = head_.load(std::memory_order::acquire);
        // (13) acquire: pairs with (12)
        const std::uint64_t tail = tail_.load(std::memory_order::acquire);

        // Signed: another claim may still have moved the head past this tail by the time of the exchange.
        const auto waiting = static_cast<std::int64_t>(tail - head);
        const auto room =
            static_cast<std::int64_t>(in_use_limit) - (static_cast<std::int64_t>(fresh) - waiting);
        if (room <= 0) {
            return 0;
        }
        std::size_t count = std::min(wanted, static_cast<std::size_t>(room));

        const std::int64_t reusable = waiting - static_cast<std::int64_t>(options_.reuse_delay);
        if (reusable > 0) {
            count = std::min(count, static_cast<std::size_t>(reusable));
            read(head, count, out); // carried by (13)
            // (15) release: pairs with (14): the reads above happen before whatever follows from this claim,
            // the reuse of the entries included
            if (head_.compare_exchange_weak(head, head + count, std::memory_order::release,
                                            std::memory_order::relaxed)) {
                reuse_distance_.observe(static_cast<std::size_t>(waiting) - count);
                return count;
            }
        } else {
            if (fresh >= options_.index_limit) {
                return 0;
            }
            count = std::min(count, static_cast<std::size_t>(options_.index_limit - fresh));
            // (11) release: pairs with (10)
            if (fresh_.compare_exchange_weak(fresh, fresh + count, std::memory_order::release,
                                             std::memory_order::relaxed)) {
                for (std::size_t i = 0; i < count; ++i) {
                    out[i] = static_cast<std::uint32_t>(fresh + i);
                }
                return count;
            }
        }
    }
    return 0;
}

} // namespace handlepool

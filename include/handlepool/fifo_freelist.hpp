#pragma once

#include <handlepool/detail/freelist_counters.hpp>
#include <handlepool/detail/memory_of.hpp>
#include <handlepool/detail/memory_purpose.hpp>
#include <handlepool/detail/min_max.hpp>
#include <handlepool/memory_use.hpp>

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace handlepool {

/// The native freelist: entries that are read before they are claimed.
///
/// A claim reads the entries at `head`, and only then moves `head` by compare-exchange: it keeps what it
/// read only if nobody had claimed in between. The other order, move and then read, would let the producer
/// lap a thread that was stopped in between and hand one index out twice.
///
/// The entries lie in blocks, and a ring of block numbers, with room for all indices that can wait, says
/// which. A block is used again as soon as `head` has passed it: memory follows the number of indices that
/// wait, where a ring of entries would wander through all of itself.
template <class Policy>
class fifo_freelist {
public:
    /// An empty freelist; `what_for` is for messages. Throws reservation_failed.
    fifo_freelist(const detail::memory_purpose& what_for, freelist_options options)
        : counters_(options),
          blocks_(what_for.rarely(), std::bit_ceil(options.waiting_limit / block_size + 2), 0),
          entries_(what_for.rarely(), blocks_.size() * block_size, 0) {}

    /// Any thread, lock-free; see the concept `freelist`.
    std::size_t claim(std::uint32_t* out, std::size_t wanted, std::size_t in_use_limit,
                      std::size_t tries = std::numeric_limits<std::size_t>::max()) noexcept {
        return counters_.claim(
            out, wanted, in_use_limit, tries,
            [&](std::uint64_t head, std::size_t count) { read(head, count, out); }, [](std::size_t) {});
    }

    /// Producer: gives an index back, for claims after the next publish().
    /// Progress: wait-free.
    void release(std::uint32_t index) noexcept {
        if (freed_ % block_size == 0) {
            start_block();
        }
        entries_[write_].store(index, std::memory_order::relaxed); // carried by (12)
        write_ = write_ + 1;
        freed_ = freed_ + 1;
    }

    /// Producer: lets claims take what was released.
    /// Progress: wait-free.
    void publish() noexcept { counters_.publish(freed_); }

    /// As newly made, with `fresh` indices in use. Only while nobody else uses the freelist.
    void reset(std::size_t fresh) noexcept { start_at(fresh, 0); }

    /// A moment's view, described in the concept `freelist`. Any thread; wait-free.
    std::size_t in_use() const noexcept { return counters_.in_use(); }
    std::size_t waiting() const noexcept { return counters_.waiting(); }
    std::size_t fresh() const noexcept { return counters_.fresh(); }
    std::size_t limit() const noexcept { return counters_.limit(); }
    std::size_t smallest_reuse_distance() const noexcept { return counters_.smallest_reuse_distance(); }

    /// Memory of the blocks and their ring. Asks the system about each page.
    memory_use memory() const noexcept { return detail::memory_of(blocks_, entries_); }

protected:
    /// Starts with `fresh` indices in use, and with the counters at `position`, as if that many indices had
    /// been freed and claimed.
    void start_at(std::size_t fresh, std::uint64_t position) noexcept {
        counters_.set(fresh, position);
        freed_ = position;
        passed_ = position / block_size;
        blocks_used_ = 0;
        if (position % block_size != 0) {
            start_block();
            write_ = write_ + position % block_size;
        }
    }

private:
    using word = typename Policy::template atomic<std::uint32_t>;
    template <class Value>
    using plain = typename Policy::template plain<Value>;

    // A power of two, and so is the ring's size: no seam where a counter overflows.
    static constexpr std::size_t block_size = Policy::freelist_block;
    static_assert(std::has_single_bit(block_size));

    word& place_of(std::uint64_t block) noexcept { return blocks_[block & (blocks_.size() - 1)]; }
    const word& place_of(std::uint64_t block) const noexcept { return blocks_[block & (blocks_.size() - 1)]; }

    /// Producer: chooses where the next entries go.
    void start_block() noexcept {
        std::uint32_t block = 0;
        if (static_cast<std::int64_t>(counters_.claimed() - (passed_ + 1) * block_size) >= 0) {
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
            const std::size_t part = detail::min(count, block_size - offset);
            const std::size_t block = place_of(position / block_size).load(std::memory_order::relaxed);
            for (std::size_t i = 0; i < part; ++i) {
                out[i] = entries_[block * block_size + offset + i].load(std::memory_order::relaxed);
            }
            position += part;
            count -= part;
            out += part;
        }
    }

    detail::freelist_counters<Policy> counters_;
    typename Policy::template array<word> blocks_;
    typename Policy::template array<word> entries_;

    // Of the producer alone.
    plain<std::size_t> write_{0};         // next place among the entries
    plain<std::uint64_t> freed_{0};       // indices ever freed
    plain<std::uint64_t> passed_{0};      // blocks ever used again, in the order of the ring
    plain<std::uint32_t> blocks_used_{0}; // blocks that have memory
};

} // namespace handlepool

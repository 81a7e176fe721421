#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

#include <handlepool/config.hpp>
#include <handlepool/freelist.hpp>

namespace handlepool {

/// The native freelist: a ring of indices with 64-bit counters that never wrap, read before it is claimed.
///
/// A claim loads `head`, then `tail`, reads the entries between, and only then moves `head` by compare-exchange: it
/// keeps what it read only if nobody had claimed in between. The other order, move and then read, would let the
/// producer lap a thread that was stopped in between and hand one index out twice. The ring has room for all indices
/// that can wait, so the producer never looks at `head`.
///
/// Indices that were never used come from a counter and cost no memory until then.
template <class Policy>
class fifo_freelist {
public:
    fifo_freelist(std::string_view what_for, freelist_options options)
        : options_(options), ring_(what_for, options.waiting_limit, 0) {}

    /// Any thread, lock-free; see the concept `freelist`.
    std::size_t claim(std::uint32_t* out, std::size_t wanted, std::size_t in_use_limit,
                      std::size_t tries = std::numeric_limits<std::size_t>::max()) noexcept;

    void release(std::uint32_t index) noexcept {
        ring_[write_].store(index, std::memory_order::relaxed); // carried by (12)
        write_ = write_ + 1 == ring_.size() ? 0 : write_ + 1;
        freed_ = freed_ + 1;
    }

    void publish() noexcept {
        // (12) release: pairs with (13), for the entries and for all that the producer did to what they name
        tail_.store(freed_, std::memory_order::release);
    }

    /// Starts the counters at `position`, as after so many claims. Only before the first use; for tests of what
    /// happens far into a pool's life.
    void preset(std::uint64_t position) noexcept {
        write_ = static_cast<std::size_t>(position % ring_.size());
        freed_ = position;
        head_.store(position, std::memory_order::relaxed);
        tail_.store(position, std::memory_order::relaxed);
    }

    void reset(std::size_t fresh) noexcept {
        fresh_.store(fresh, std::memory_order::relaxed);
        preset(0);
    }

    std::size_t in_use() const noexcept { return fresh() - waiting(); }
    std::size_t waiting() const noexcept {
        const std::uint64_t head = head_.load(std::memory_order::relaxed);
        const std::uint64_t tail = tail_.load(std::memory_order::relaxed);
        return static_cast<std::size_t>(std::max<std::int64_t>(0, static_cast<std::int64_t>(tail - head)));
    }
    std::size_t fresh() const noexcept { return static_cast<std::size_t>(fresh_.load(std::memory_order::relaxed)); }
    std::size_t limit() const noexcept { return options_.index_limit; }
    std::size_t smallest_reuse_distance() const noexcept { return reuse_distance_.get(); }

    std::size_t bytes_reserved() const noexcept { return ring_.bytes_reserved(); }
    std::size_t bytes_resident() const noexcept { return ring_.bytes_resident(); }

private:
    template <class Word>
    using atomic = typename Policy::template atomic<Word>;
    template <class Value>
    using plain = typename Policy::template plain<Value>;

    freelist_options options_;
    typename Policy::template array<atomic<std::uint32_t>> ring_;

    // Of the producer alone.
    plain<std::size_t> write_{0};
    plain<std::uint64_t> freed_{0};

    alignas(cache_line) atomic<std::uint64_t> fresh_{0};
    reuse_distance<Policy> reuse_distance_;
    alignas(cache_line) atomic<std::uint64_t> head_{0};
    alignas(cache_line) atomic<std::uint64_t> tail_{0};
};

template <class Policy>
std::size_t fifo_freelist<Policy>::claim(std::uint32_t* out, std::size_t wanted, std::size_t in_use_limit,
                                         std::size_t tries) noexcept {
    for (; tries != 0; --tries) {
        // The order of the three loads makes the number in use a lower bound of the true one at the time of the
        // last load: a claim is refused only when the limit was reached.
        // (10) acquire: pairs with (11), so that the tail that let another thread take a fresh index is seen too
        std::uint64_t fresh = fresh_.load(std::memory_order::acquire);
        // (14) acquire: pairs with (15), so that the tail loaded next is not behind this head
        std::uint64_t head = head_.load(std::memory_order::acquire);
        // (13) acquire: pairs with (12)
        const std::uint64_t tail = tail_.load(std::memory_order::acquire);

        // Signed: another claim may still have moved the head past this tail by the time of the exchange.
        const auto waiting = static_cast<std::int64_t>(tail - head);
        const auto room = static_cast<std::int64_t>(in_use_limit) - (static_cast<std::int64_t>(fresh) - waiting);
        if (room <= 0) {
            return 0;
        }
        std::size_t count = std::min(wanted, static_cast<std::size_t>(room));

        const std::int64_t reusable = waiting - static_cast<std::int64_t>(options_.reuse_delay);
        if (reusable > 0) {
            count = std::min(count, static_cast<std::size_t>(reusable));
            std::size_t position = static_cast<std::size_t>(head % ring_.size());
            for (std::size_t i = 0; i < count; ++i) {
                out[i] = ring_[position].load(std::memory_order::relaxed); // carried by (13)
                position = position + 1 == ring_.size() ? 0 : position + 1;
            }
            // (15) release: pairs with (14): the reads above happen before whatever follows from this claim, the
            // reuse of the entries included
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

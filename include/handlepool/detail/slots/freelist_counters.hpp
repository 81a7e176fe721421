// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/base/least.hpp>
#include <handlepool/freelist.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace handlepool::detail {

/// The smallest reuse distance so far: the number of other indices freed between the freeing of an index and
/// its reuse.
template <class Policy>
class reuse_distance {
public:
    /// Any thread. Lock-free; writes only when the distance is smaller than all before.
    void observe(std::size_t distance) noexcept {
        std::size_t smallest = smallest_.load(std::memory_order::relaxed);
        while (distance < smallest &&
               !smallest_.compare_exchange_weak(smallest, distance, std::memory_order::relaxed)) {
        }
    }

    /// The smallest distance; the largest std::size_t while none was observed.
    std::size_t get() const noexcept { return smallest_.load(std::memory_order::relaxed); }

private:
    typename Policy::template atomic<std::size_t> smallest_{(std::numeric_limits<std::size_t>::max)()};
};

/// Decides how many indices of a freelist a claim gets, fresh or freed. The freelist stores the freed ones.
///
/// Three counters of 64 bits, which never wrap, say what became of the indices:
///
///     of all indices   0 --- in service --- fresh --- not yet --- limit
///     of those freed   0 --- claimed again --- head --- waiting --- tail
///
///     in use = fresh - (tail - head)
///
/// A claim has three steps: see() looks at the counters, the freelist looks at what it stores there, and
/// try_take_freed() or try_take_fresh() moves `head` or `fresh` by an exchange, which fails where another
/// claim was faster. Freed indices go out while more than the reuse delay of them wait, fresh ones otherwise.
template <class Policy>
class freelist_counters {
public:
    /// What a claim may take, as the counters stood when it looked: freed indices, or if there are none fresh
    /// ones; neither if it is refused.
    struct view {
        std::uint64_t head = 0;  // the first of the freed
        std::uint64_t fresh = 0; // the first of the fresh
        std::size_t waiting = 0;
        std::size_t freed_count = 0;
        std::size_t fresh_count = 0;
    };

    explicit freelist_counters(freelist_options options) : options_(options) {}

    /// Any thread: what a claim of `wanted` indices may take; see the concept `freelist`. Wait-free.
    HANDLEPOOL_ALWAYS_INLINE view see(std::size_t wanted, std::size_t in_use_limit) const noexcept {
        // The order of the three loads makes the number in use a lower bound of the true one at the time of
        // the last load: a claim is refused only when the limit was reached. (10) acquire: pairs with (11),
        // so that the tail that let another thread take a fresh index is seen too
        const std::uint64_t fresh = fresh_.load(std::memory_order::acquire);
        // (14) acquire: pairs with (15), so that the tail loaded next is not behind this head
        const std::uint64_t head = head_.load(std::memory_order::acquire);
        // (13) acquire: pairs with (12)
        const std::uint64_t tail = tail_.load(std::memory_order::acquire);

        // Signed: another claim may still have moved the head past this tail by the time of the exchange.
        const auto waiting = static_cast<std::int64_t>(tail - head);
        const auto room =
            static_cast<std::int64_t>(in_use_limit) - (static_cast<std::int64_t>(fresh) - waiting);
        if (room <= 0) {
            return {};
        }
        const std::size_t most = least(wanted, static_cast<std::size_t>(room));
        const std::int64_t reusable = waiting - static_cast<std::int64_t>(options_.reuse_delay);
        if (reusable > 0) {
            return {.head = head,
                    .waiting = static_cast<std::size_t>(waiting),
                    .freed_count = least(most, static_cast<std::size_t>(reusable))};
        }
        return {.fresh = fresh,
                .fresh_count = fresh < options_.index_limit
                                   ? least<std::size_t>(most, options_.index_limit - fresh)
                                   : 0};
    }

    /// Any thread: claims the first `count` of the freed indices that it has seen. False if another claim was
    /// faster; then what the freelist stores there may be something else by now. Wait-free.
    HANDLEPOOL_ALWAYS_INLINE bool try_take_freed(const view& seen, std::size_t count) noexcept {
        std::uint64_t head = seen.head;
        // (15) release: pairs with (14), and with (16): what was looked at is written again after this claim
        if (!head_.compare_exchange_weak(head, head + count, std::memory_order::release,
                                         std::memory_order::relaxed)) {
            return false;
        }
        reuse_distance_.observe(seen.waiting - count);
        return true;
    }

    /// Any thread: claims the fresh indices that it has seen, and writes them to `out`. False if another
    /// claim was faster. Wait-free but for the writing.
    HANDLEPOOL_ALWAYS_INLINE bool try_take_fresh(const view& seen, std::uint32_t* out) noexcept {
        std::uint64_t fresh = seen.fresh;
        // (11) release: pairs with (10)
        if (!fresh_.compare_exchange_weak(fresh, fresh + seen.fresh_count, std::memory_order::release,
                                          std::memory_order::relaxed)) {
            return false;
        }
        write_fresh(seen, out);
        return true;
    }

    /// Claims the first `count` of the freed indices, of which `waiting` were seen, or the fresh ones, while
    /// no other thread uses the freelist. Not by exchanges, which would wait for all stores before them; and
    /// relaxed, as whoever comes later is ordered after that.
    void take_freed_alone(std::size_t waiting, std::size_t count) noexcept {
        head_.store(head_.load(std::memory_order::relaxed) + count, std::memory_order::relaxed);
        reuse_distance_.observe(waiting - count);
    }
    void take_fresh_alone(const view& seen, std::uint32_t* out) noexcept {
        fresh_.store(seen.fresh + seen.fresh_count, std::memory_order::relaxed);
        write_fresh(seen, out);
    }

    // While no other thread uses the freelist: see the concept `dealable_freelist`.

    freelist_stock stock(std::size_t in_use_limit) const noexcept {
        const std::size_t used = in_use();
        const std::size_t room = in_use_limit - least(in_use_limit, used);
        const std::size_t waiting = this->waiting();
        const std::size_t freed = least(room, waiting - least(waiting, options_.reuse_delay));
        return {.freed = freed, .fresh = least(room - freed, options_.index_limit - fresh())};
    }
    void put_in_service(std::size_t count) noexcept {
        fresh_.store(fresh_.load(std::memory_order::relaxed) + count, std::memory_order::relaxed);
    }

    /// Producer: lets claims see the first `freed` of all indices ever freed.
    void publish(std::uint64_t freed) noexcept {
        // (12) release: pairs with (13), for the entries and for all that the producer did to what they name
        tail_.store(freed, std::memory_order::release);
    }

    /// Producer: the number of freed indices claimed so far.
    std::uint64_t claimed() const noexcept {
        // (16) acquire: pairs with (15), so that what the claims have looked at may be written again
        return head_.load(std::memory_order::acquire);
    }

    /// Restarts with `fresh` indices in service, and with both ends of the queue at `position`. Only while
    /// nobody else uses it.
    void set(std::size_t fresh, std::uint64_t position) noexcept {
        fresh_.store(fresh, std::memory_order::relaxed);
        head_.store(position, std::memory_order::relaxed);
        tail_.store(position, std::memory_order::relaxed);
    }

    std::size_t in_use() const noexcept {
        const std::size_t waiting_before = waiting(); // before `fresh`: the difference can't wrap
        return fresh() - waiting_before;
    }
    std::size_t waiting() const noexcept {
        // (19) acquire, for the order of the loads alone: what is claimed between them makes the result
        // smaller, never larger than what waits
        const std::uint64_t tail = tail_.load(std::memory_order::acquire);
        const std::uint64_t head = head_.load(std::memory_order::relaxed);
        return static_cast<std::size_t>(greatest<std::int64_t>(0, static_cast<std::int64_t>(tail - head)));
    }
    std::size_t fresh() const noexcept {
        return static_cast<std::size_t>(fresh_.load(std::memory_order::relaxed));
    }
    std::size_t limit() const noexcept { return options_.index_limit; }
    std::size_t smallest_reuse_distance() const noexcept { return reuse_distance_.get(); }

private:
    template <class Word>
    using atomic = typename Policy::template atomic<Word>;

    static void write_fresh(const view& seen, std::uint32_t* out) noexcept {
        for (std::size_t i = 0; i < seen.fresh_count; ++i) {
            out[i] = static_cast<std::uint32_t>(seen.fresh + i);
        }
    }

    freelist_options options_;
    alignas(cache_line) atomic<std::uint64_t> fresh_{0};
    reuse_distance<Policy> reuse_distance_;
    alignas(cache_line) atomic<std::uint64_t> head_{0};
    alignas(cache_line) atomic<std::uint64_t> tail_{0};
};

} // namespace handlepool::detail

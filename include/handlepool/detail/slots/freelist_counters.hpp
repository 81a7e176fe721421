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

    /// The largest std::size_t while it was shown none.
    std::size_t get() const noexcept { return smallest_.load(std::memory_order::relaxed); }

private:
    typename Policy::template atomic<std::size_t> smallest_{(std::numeric_limits<std::size_t>::max)()};
};

/// The counters of a freelist, 64 bits wide, which never wrap: how many indices were put in service
/// (`fresh`), how many freed ones were claimed (`head`), and how many were freed (`tail`, which the producer
/// moves). They decide how many indices a claim gets, fresh or freed. The freelist stores the freed ones.
template <class Policy>
class freelist_counters {
public:
    explicit freelist_counters(freelist_options options) : options_(options) {}

    /// Any thread, lock-free; see the concept `freelist`. Of freed indices it calls `look(head, most)`, which
    /// returns how many are to be claimed, at least one, and when they have been claimed `take(count)`. If
    /// the exchange between the two fails, what `look` saw may be wrong.
    template <class Look, class Take>
    HANDLEPOOL_ALWAYS_INLINE std::size_t claim(std::uint32_t* out, std::size_t wanted,
                                               std::size_t in_use_limit, std::size_t tries, Look look,
                                               Take take) noexcept;

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

    freelist_options options_;
    alignas(cache_line) atomic<std::uint64_t> fresh_{0};
    reuse_distance<Policy> reuse_distance_;
    alignas(cache_line) atomic<std::uint64_t> head_{0};
    alignas(cache_line) atomic<std::uint64_t> tail_{0};
};

template <class Policy>
template <class Look, class Take>
HANDLEPOOL_ALWAYS_INLINE inline std::size_t
freelist_counters<Policy>::claim(std::uint32_t* out, std::size_t wanted, std::size_t in_use_limit,
                                 std::size_t tries, Look look, Take take) noexcept {
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
        std::size_t count = least(wanted, static_cast<std::size_t>(room));

        const std::int64_t reusable = waiting - static_cast<std::int64_t>(options_.reuse_delay);
        if (reusable > 0) {
            count = look(head, least(count, static_cast<std::size_t>(reusable)));
            // (15) release: pairs with (14), and with (16): what was looked at is written again after this
            // claim
            if (head_.compare_exchange_weak(head, head + count, std::memory_order::release,
                                            std::memory_order::relaxed)) {
                take(count);
                reuse_distance_.observe(static_cast<std::size_t>(waiting) - count);
                return count;
            }
        } else {
            if (fresh >= options_.index_limit) {
                return 0;
            }
            count = least<std::size_t>(count, options_.index_limit - fresh);
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

} // namespace handlepool::detail

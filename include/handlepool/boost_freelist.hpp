#pragma once

#include <handlepool/config.hpp>
#include <handlepool/error.hpp>
#include <handlepool/freelist.hpp>

#include <boost/lockfree/queue.hpp>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>
#include <string>
#include <string_view>

namespace handlepool {

/// A freelist over boost::lockfree::queue, which follows Michael and Scott, "Simple, Fast, and Practical
/// Non-Blocking and Blocking Concurrent Queue Algorithms". One element an exchange, so threads meet for each
/// object where the native freelist lets them meet for 64; it stands as a second opinion on the concept
/// `freelist`.
///
/// Not for ThreadSanitizer, which reports the queue: the payload of a node is read while another thread
/// rebuilds the node, and thrown away after. Not for the model checker: the queue chooses its own atomics.
template <class Policy>
class boost_freelist {
public:
    boost_freelist(std::string_view what_for, freelist_options options) try
        : options_(options), queue_(options.waiting_limit) {
    } catch (const std::bad_alloc&) {
        throw reservation_failed(what_for, options.waiting_limit * sizeof(std::uint32_t), ENOMEM);
    }

    std::size_t claim(std::uint32_t* out, std::size_t wanted, std::size_t in_use_limit,
                      std::size_t tries = std::numeric_limits<std::size_t>::max()) noexcept;

    void release(std::uint32_t index) noexcept {
        queue_.bounded_push(index); // always has room: nodes for all that can wait are made at the start
        ++unpublished_;
    }

    void publish() noexcept {
        // (16) release: pairs with (17), so that whoever sees the count finds as many entries
        freed_.fetch_add(unpublished_, std::memory_order::release);
        unpublished_ = 0;
    }

    void reset(std::size_t fresh) noexcept {
        queue_.consume_all([](std::uint32_t) {});
        fresh_.store(fresh, std::memory_order::relaxed);
        claimed_.store(0, std::memory_order::relaxed);
        freed_.store(0, std::memory_order::relaxed);
        unpublished_ = 0;
    }

    std::size_t in_use() const noexcept {
        const std::size_t waiting_before =
            waiting(); // a lower bound, so that fewer are never seen in service
        return fresh() - waiting_before;
    }
    std::size_t waiting() const noexcept {
        // acquire, for the order of the loads alone: what is claimed between them makes the result smaller,
        // never larger than what waits
        const std::uint64_t freed = freed_.load(std::memory_order::acquire);
        const std::uint64_t claimed = claimed_.load(std::memory_order::relaxed);
        return static_cast<std::size_t>(
            std::max<std::int64_t>(0, static_cast<std::int64_t>(freed - claimed)));
    }
    std::size_t fresh() const noexcept {
        return static_cast<std::size_t>(fresh_.load(std::memory_order::relaxed));
    }
    std::size_t limit() const noexcept { return options_.index_limit; }
    std::size_t smallest_reuse_distance() const noexcept { return reuse_distance_.get(); }

    // The queue's nodes are on the heap, where nobody counts them.
    std::size_t bytes_reserved() const noexcept { return 0; }
    std::size_t bytes_resident() const noexcept { return 0; }

private:
    template <class Word>
    using atomic = typename Policy::template atomic<Word>;

    freelist_options options_;
    boost::lockfree::queue<std::uint32_t> queue_;
    std::uint64_t unpublished_ = 0; // of the producer alone

    alignas(cache_line) atomic<std::uint64_t> fresh_{0};
    reuse_distance<Policy> reuse_distance_;
    alignas(cache_line) atomic<std::uint64_t> claimed_{0};
    alignas(cache_line) atomic<std::uint64_t> freed_{0};
};

template <class Policy>
std::size_t boost_freelist<Policy>::claim(std::uint32_t* out, std::size_t wanted, std::size_t in_use_limit,
                                          std::size_t tries) noexcept {
    for (; tries != 0; --tries) {
        // The loads stand in the native freelist's order, for its reason.
        std::uint64_t fresh = fresh_.load(std::memory_order::acquire);     // (10): pairs with (11)
        std::uint64_t claimed = claimed_.load(std::memory_order::acquire); // (18): pairs with (19)
        // (17) acquire: pairs with (16)
        const std::uint64_t freed = freed_.load(std::memory_order::acquire);

        const auto waiting = static_cast<std::int64_t>(freed - claimed);
        const auto room =
            static_cast<std::int64_t>(in_use_limit) - (static_cast<std::int64_t>(fresh) - waiting);
        if (room <= 0) {
            return 0;
        }
        std::size_t count = std::min(wanted, static_cast<std::size_t>(room));

        const std::int64_t reusable = waiting - static_cast<std::int64_t>(options_.reuse_delay);
        if (reusable > 0) {
            count = std::min(count, static_cast<std::size_t>(reusable));
            // (19) release: pairs with (18)
            if (claimed_.compare_exchange_weak(claimed, claimed + count, std::memory_order::release,
                                               std::memory_order::relaxed)) {
                // As many entries as were just taken off the count are in the queue, or more.
                for (std::size_t i = 0; i < count; ++i) {
                    while (!queue_.pop(out[i])) {
                        Policy::wait();
                    }
                }
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

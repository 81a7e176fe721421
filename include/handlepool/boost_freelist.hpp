// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/least.hpp>
#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/detail/memory/allocation_label.hpp>
#include <handlepool/detail/slots/freelist_counters.hpp>
#include <handlepool/error.hpp>
#include <handlepool/memory_use.hpp>

#include <boost/lockfree/queue.hpp>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace handlepool {

/// A freelist over boost::lockfree::queue, which follows Michael and Scott, "Simple, Fast, and Practical
/// Non-Blocking and Blocking Concurrent Queue Algorithms". It takes each index out by an exchange of its own,
/// where the native freelist takes 64 with one; it stands as a second opinion on the concept `freelist`.
///
/// Not for ThreadSanitizer, which reports the queue: the payload of a node is read while another thread
/// rebuilds the node, and then discarded. Not for the model checker: the queue chooses its own atomics.
template <class Policy>
class boost_freelist {
public:
    /// An empty freelist; `what_for` is for messages. Throws reservation_failed.
    boost_freelist(const freelist_memory& what_for, freelist_options options) : counters_(options) {
        if (detail::capture_exception([&] { queue_.emplace(options.waiting_limit); })) { // std::bad_alloc
            detail::throw_exception(reservation_failed(
                what_for.text().c_str(), options.waiting_limit * sizeof(std::uint32_t), ENOMEM));
        }
    }

    /// Any thread, lock-free; see the concept `freelist`.
    std::size_t claim(std::uint32_t* out, std::size_t wanted, std::size_t in_use_limit,
                      std::size_t tries = detail::unlimited) noexcept {
        for (; tries != 0; --tries) {
            const auto seen = counters_.see(wanted, in_use_limit);
            if (seen.freed_count != 0) {
                if (counters_.try_take_freed(seen, seen.freed_count)) {
                    pop(out, seen.freed_count);
                    return seen.freed_count;
                }
            } else if (seen.fresh_count == 0 || counters_.try_take_fresh(seen, out)) {
                return seen.fresh_count;
            }
        }
        return 0;
    }

    /// Producer: gives an index back, for claims after the next publish().
    /// Progress: lock-free, as the queue's nodes are shared.
    void release(std::uint32_t index) noexcept {
        queue_->bounded_push(index); // always has room: nodes for all that can wait are made at the start
        ++freed_;
    }

    /// Producer: lets claims take what was released.
    /// Progress: wait-free.
    void publish() noexcept { counters_.publish(freed_); }

    /// Producer: indices ever given back. Wait-free.
    std::uint64_t released() const noexcept { return freed_; }

    /// As newly made, with `fresh` indices in use. Only while nobody else uses the freelist.
    void reset(std::size_t fresh) noexcept {
        queue_->consume_all([](std::uint32_t) {});
        counters_.set(fresh, 0);
        freed_ = 0;
    }

    /// A moment's view, described in the concept `freelist`. Any thread; wait-free.
    std::size_t in_use() const noexcept { return counters_.in_use(); }
    std::size_t waiting() const noexcept { return counters_.waiting(); }
    std::size_t fresh() const noexcept { return counters_.fresh(); }
    std::size_t limit() const noexcept { return counters_.limit(); }
    std::size_t smallest_reuse_distance() const noexcept { return counters_.smallest_reuse_distance(); }

    /// Nothing: the queue's nodes are on the heap, where nobody counts them.
    memory_use memory() const noexcept { return {}; }

private:
    /// Takes entries that the calling thread has claimed. As many are in the queue, or more: at worst another
    /// thread still takes out one of its own.
    void pop(std::uint32_t* out, std::size_t count) noexcept {
        for (std::size_t i = 0; i < count; ++i) {
            while (!queue_->pop(out[i])) {
                Policy::wait();
            }
        }
    }

    detail::freelist_counters<Policy> counters_;
    std::optional<boost::lockfree::queue<std::uint32_t>> queue_; // always there
    std::uint64_t freed_ = 0;                                    // of the producer alone
};

} // namespace handlepool

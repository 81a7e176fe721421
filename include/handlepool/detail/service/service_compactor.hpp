// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/any_pool.hpp>
#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/base/least.hpp>
#include <handlepool/detail/queues/budget.hpp>
#include <handlepool/detail/service/pool_directory.hpp>
#include <handlepool/detail/text/message.hpp>
#include <handlepool/detail/threads/access_gate.hpp>
#include <handlepool/detail/threads/pin.hpp>
#include <handlepool/executor_ref.hpp>
#include <handlepool/fwd.hpp>
#include <handlepool/handle.hpp>
#include <handlepool/policy.hpp>
#include <handlepool/service_stats.hpp>
#include <handlepool/stats.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

namespace handlepool::detail {

/// The per-frame task of a service: ends the removed pools, and compacts the others, one after the other.
/// Also has the pools return memory, which keeps guards off, too.
template <class Layout, class Policy>
class HANDLEPOOL_EXPORT service_compactor {
public:
    using pool_type = any_pool<Layout>;

    /// `gate` keeps guards of the service off while it works.
    service_compactor(access_gate<pin<Policy>>& gate, pool_directory<Layout, Policy>& pools)
        : gate_(gate), pools_(pools) {}

    /// Waits for guards. Throws compaction_conflict as the service's compact() says.
    service_compaction compact(executor_ref executor, std::size_t budget = unlimited);

    /// Like compact(), but returns nothing where it can't start at once.
    std::optional<service_compaction> try_compact(executor_ref executor);

    /// Has each pool return memory. Waits for guards. Throws compaction_conflict as the service says.
    service_shrink shrink();

    /// Like shrink(), but returns nothing where it can't start at once.
    std::optional<service_shrink> try_shrink() noexcept;

    /// Compactions so far. Any thread; wait-free.
    std::uint64_t frames() const noexcept { return frames_.load(std::memory_order::relaxed); }

private:
    /// The first pool that has refused to be compacted.
    class first_refusal {
    public:
        /// Notes a refusal. Returns whether there was none.
        bool note(const pool_type& pool, gate_refusal why) noexcept {
            if (why != gate_refusal::none && pool_ == nullptr) {
                pool_ = &pool;
                why_ = why;
            }
            return why == gate_refusal::none;
        }
        void raise() const {
            if (pool_ != nullptr) {
                throw_refused(quoted_pool(pool_->name()), gate_use::compaction, why_);
            }
        }

    private:
        const pool_type* pool_ = nullptr;
        gate_refusal why_ = gate_refusal::none;
    };

    template <class CompactOne>
    service_compaction compact_all(bool may_wait, std::size_t budget, CompactOne compact_one);

    access_gate<pin<Policy>>& gate_;
    pool_directory<Layout, Policy>& pools_;
    typename Policy::template atomic<std::uint64_t> frames_{0};
};

extern template class service_compactor<default_layout, default_policy>;

// -----------------------------------------------------------------------------------------------------------

template <class Layout, class Policy>
service_compaction service_compactor<Layout, Policy>::compact(executor_ref executor, std::size_t budget) {
    const auto closed = gate_.lock_or_throw();
    first_refusal refused;
    const auto compact_one = [&](pool_type& pool, std::size_t most) -> std::optional<compaction_stats> {
        const compaction_attempt attempt = pool.compact_inside(&gate_, executor, most);
        return refused.note(pool, attempt.refusal) ? std::optional(attempt.done) : std::nullopt;
    };
    const service_compaction sum = compact_all(true, budget, compact_one);
    refused.raise();
    return sum;
}

template <class Layout, class Policy>
std::optional<service_compaction> service_compactor<Layout, Policy>::try_compact(executor_ref executor) {
    const auto closed = gate_.try_lock();
    if (!closed) {
        return std::nullopt;
    }
    return compact_all(false, unlimited,
                       [&](pool_type& pool, std::size_t) { return pool.try_compact(executor); });
}

template <class Layout, class Policy>
service_shrink service_compactor<Layout, Policy>::shrink() {
    const auto closed = gate_.lock_or_throw();
    pools_.begin_frame(true);
    first_refusal refused;
    for (pool_type* const pool : pools_.of_frame()) {
        refused.note(*pool, pool->shrink_inside(&gate_));
    }
    refused.raise();
    return {.pools = pools_.of_frame().size(), .skipped = 0};
}

template <class Layout, class Policy>
std::optional<service_shrink> service_compactor<Layout, Policy>::try_shrink() noexcept {
    const auto closed = gate_.try_lock();
    if (!closed) {
        return std::nullopt;
    }
    pools_.begin_frame(false);
    service_shrink done;
    for (pool_type* const pool : pools_.of_frame()) {
        ++(pool->try_shrink_to_fit() ? done.pools : done.skipped);
    }
    return done;
}

/// Calls `compact_one(pool, budget)`, which may refuse, for the pools that have something to do. The gate is
/// closed. `may_wait` says whether it may wait for threads that change or view the directory.
template <class Layout, class Policy>
template <class CompactOne>
service_compaction service_compactor<Layout, Policy>::compact_all(bool may_wait, std::size_t budget,
                                                                  CompactOne compact_one) {
    const auto start = std::chrono::steady_clock::now();
    service_compaction sum;
    pools_.begin_frame(may_wait);
    auto& ending = pools_.ending();
    for (auto next = ending.begin(); next != ending.end();) {
        if (compact_one(*next->pool, unlimited)) {
            next = ending.erase(next);
        } else {
            ++sum.skipped;
            ++next;
        }
    }
    const auto& pools = pools_.of_frame();
    const auto compact_next = [&](std::size_t i, std::size_t most) {
        pool_type& pool = *pools[i];
        if (pool.idle()) {
            pool.skip_frame();
        } else if (const std::optional<compaction_stats> done = compact_one(pool, most)) {
            ++sum.pools;
            sum.removed += done->removed;
            sum.born += done->born;
            sum.moved += done->moved;
            sum.retired += done->retired;
            sum.waiting_removals += done->waiting_removals;
            sum.waiting_newborns += done->waiting_newborns;
        } else {
            ++sum.skipped;
        }
    };
    fair_budget(budget, frames())
        .divide(
            pools.size(),
            [&](std::size_t i, std::size_t most) {
                // Even if nothing waits that is counted, places of newborns may be left.
                return pools[i]->idle() ? 0 : least(greatest<std::size_t>(pools[i]->waiting(), 1), most);
            },
            compact_next);
    frames_.store(frames() + 1, std::memory_order::relaxed);
    sum.duration = std::chrono::steady_clock::now() - start;
    return sum;
}

} // namespace handlepool::detail

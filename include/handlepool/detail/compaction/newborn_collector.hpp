// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/memory/allocation_label.hpp>
#include <handlepool/detail/memory/frame_list.hpp>
#include <handlepool/detail/parts/pool_state.hpp>
#include <handlepool/detail/queues/budget.hpp>
#include <handlepool/executor.hpp>
#include <handlepool/memory_use.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace handlepool::detail {

/// Finds the newborns of all shards that are published, in a compaction.
template <class T, class Config>
class newborn_collector {
    using parts_type = pool_state<T, Config>;
    using policy = typename Config::policy;

public:
    newborn_collector(const allocation_label& what_for, parts_type& parts)
        : parts_(parts),
          runs_(what_for.part(" pending ranges of the nursery"), parts.geometry.nursery_chunks) {}

    /// Takes the newborns that are ready, shard by shard, in the order of their creation: those in as many
    /// used positions as the budget allows. Calls `take` for each run as newborn_consumer::drain() does. This
    /// thread finds out what is ready in a run, and takes it at once.
    template <class Take>
    void collect(const fair_budget& budget, Take take) {
        divide(budget, [&](std::size_t i, std::size_t most) {
            chain& queue = parts_.shards[i].newborns;
            const auto scan = [this](std::uint32_t first, std::uint32_t last) {
                return parts_.newborns.scan_ready(first, last, parts_.table);
            };
            if (!consumer().drain_ready(queue, most, scan, take) || queue.pending <= most) {
                see_vacated(queue);
            }
        });
    }

    /// Lists all runs first, and finds out with an executor what is ready in each.
    template <executor Executor, class Take>
    void collect(Executor& executor, const fair_budget& budget, Take take) {
        const std::size_t runs = list_runs(budget);
        runs_.filled(runs);
        const auto scan = [this](std::size_t first, std::size_t last) noexcept {
            for (std::size_t i = first; i != last; ++i) {
                run& one = runs_[i];
                one.ready = parts_.newborns.scan_ready(one.first, one.last, parts_.table);
            }
        };
        executor.for_ranges(runs, policy::compaction_grain / parts_.newborns.chunk_size() + 1, scan);
        for (std::size_t i = 0; i != runs;) {
            const std::size_t shard = runs_[i].shard;
            // The positions before the first of the shard that is not ready.
            std::size_t ready = 0;
            bool all = true;
            for (; i != runs && runs_[i].shard == shard; ++i) {
                if (all) {
                    ready += runs_[i].ready;
                    all = runs_[i].ready == runs_[i].last - runs_[i].first;
                }
            }
            consumer().drain(parts_.shards[shard].newborns, ready, take);
        }
    }

    /// Lets the memory of the list follow its use.
    void end_frame() noexcept { runs_.end_frame(); }
    /// Gives the memory of the list back to the system.
    void shrink() noexcept { runs_.discard(); }

    memory_use memory() const noexcept { return memory_of(runs_); }

private:
    template <class Value>
    using plain = typename policy::template plain<Value>;

    using chain = newborn_chain<policy>;

    // Neighbouring positions of a shard's nursery that are pending, and how many of them, from the first on,
    // are ready.
    struct run {
        plain<std::size_t> shard;
        plain<std::uint32_t> first;
        plain<std::uint32_t> last;
        plain<std::uint32_t> ready;
    };

    auto& consumer() noexcept { return parts_.newborns.consumer(); }

    /// Lists the runs of all shards, and returns how many they are.
    std::size_t list_runs(const fair_budget& budget) {
        std::size_t count = 0;
        divide(budget, [&](std::size_t i, std::size_t most) {
            chain& queue = parts_.shards[i].newborns;
            const auto add = [&](std::uint32_t first, std::uint32_t last) {
                runs_[count++] = {i, first, last, 0};
            };
            bool all = true;
            if (most == unlimited) {
                consumer().for_pending(queue, add);
            } else {
                all = consumer().for_used(queue, most, add);
            }
            if (all) {
                see_vacated(queue);
            }
        });
        return count;
    }

    /// Calls `take(i, share)` for each shard.
    template <class Take>
    void divide(const fair_budget& budget, Take take) {
        // All shards first: objects that come while others move wait for the next compaction.
        const std::size_t shards = parts_.working_shards();
        for (std::size_t i = 0; i != shards; ++i) {
            chain& queue = parts_.shards[i].newborns;
            queue.vacated_before = queue.vacated.load(std::memory_order::relaxed);
            queue.pending = consumer().pending(queue);
        }
        budget.divide(
            shards,
            [this](std::size_t i, std::size_t most) {
                return consumer().used(parts_.shards[i].newborns, most);
            },
            take);
    }

    static void see_vacated(chain& queue) noexcept {
        queue.vacated_seen.store(queue.vacated_before, std::memory_order::relaxed);
    }

    parts_type& parts_;
    frame_list<policy, run> runs_;
};

} // namespace handlepool::detail

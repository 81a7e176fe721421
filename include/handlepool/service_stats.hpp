// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/stats.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace handlepool {

/// A moment's view of the pools of a service, in the order in which they were added.
struct service_stats {
    std::uint64_t frames = 0;      ///< compactions of the service
    std::vector<pool_stats> pools; ///< one for each pool
};

/// The result of one compaction of a service, over all its pools.
struct service_compaction {
    std::size_t pools = 0;   ///< pools that were compacted; the others had nothing to do
    std::size_t skipped = 0; ///< pools that a guard kept from being compacted; only by try_compact

    /// Sums over the compacted pools, of the fields of compaction_stats.
    std::size_t removed = 0;
    std::size_t born = 0;
    std::size_t moved = 0;
    std::size_t retired = 0;
    std::size_t waiting_removals = 0;
    std::size_t waiting_newborns = 0;
    std::chrono::nanoseconds duration{}; ///< of the whole
};

/// The result of one shrink_to_fit() of a service.
struct service_shrink {
    std::size_t pools = 0;   ///< pools that returned memory, or had none to return
    std::size_t skipped = 0; ///< pools that a guard, or a compaction, kept from it; only by try_shrink_to_fit
};

// ---- Texts: any thread, at any time; linear in the pools. They throw std::bad_alloc.

/// A table for people, with a line for each pool.
HANDLEPOOL_EXPORT std::string to_table(const service_stats& stats);

/// One JSON object: {"frames": N, "pools": [{"name": "ships", ...}, ...]}, with the fields of pool_stats. A
/// field that has no value yet is null.
HANDLEPOOL_EXPORT std::string to_json(const service_stats& stats);

/// The text format of Prometheus, version 0.0.4: metrics `handlepool_...` with the label `pool`. Counters end
/// in `_total`.
HANDLEPOOL_EXPORT std::string to_prometheus(const service_stats& stats);

/// The objects that a pool still holds.
struct pool_leak {
    std::string pool;                ///< its name
    std::size_t objects = 0;         ///< objects that are alive
    std::vector<std::string> oldest; ///< descriptions of some of them
};

/// A text for people, with a paragraph for each pool; empty when there is none.
HANDLEPOOL_EXPORT std::string to_text(const std::vector<pool_leak>& leaks);

} // namespace handlepool

#pragma once

#include <handlepool/detail/config.hpp>
#include <handlepool/stats.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace handlepool {

/// A moment's view of the pools of a service, in the order in which they were added.
struct service_stats {
    std::uint64_t frames = 0; ///< compactions of the service
    std::vector<pool_stats> pools;
};

/// As a table for people, a line for each pool.
HANDLEPOOL_EXPORT std::string to_table(const service_stats& stats);

/// As one JSON object: {"frames": N, "pools": [{"name": "ships", ...}, ...]}, with the fields of pool_stats.
/// A field that has no value yet is null.
HANDLEPOOL_EXPORT std::string to_json(const service_stats& stats);

/// In the text format of Prometheus, version 0.0.4: metrics `handlepool_...` with the label `pool`. Counters
/// end in `_total`.
HANDLEPOOL_EXPORT std::string to_prometheus(const service_stats& stats);

/// What a pool still holds.
struct pool_leak {
    std::string pool;
    std::size_t objects = 0;
    std::vector<std::string> oldest; ///< descriptions of some of them
};

/// For people, a paragraph for each pool; empty when there is none.
HANDLEPOOL_EXPORT std::string to_text(const std::vector<pool_leak>& leaks);

} // namespace handlepool

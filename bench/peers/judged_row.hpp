// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace handlepool_bench::peers {

/// The row that the pool is judged by here: how long a replaced object takes, against sharded-slab.
struct judged_row {
    static constexpr const char* name =
        "churn, 2 threads and a parallel compaction, wall time of a replaced object, against sharded-slab";
    static constexpr const char* ours = "handlepool::pool, parallel compaction";
    static constexpr const char* theirs = "sharded_slab::Slab";
    static constexpr double must = 0.65;
    static constexpr double aim = 0.4;

    /// From the nanoseconds of rounds in which both took turns, as many of each.
    judged_row(const std::vector<double>& ours_ns, const std::vector<double>& theirs_ns);

    bool holds() const { return ratio <= must; }
    std::string to_text() const;
    nlohmann::json to_json() const;

    // Of the rounds' ratios, the median, and where the middle half lies.
    double ratio;
    double lower;
    double upper;
};

} // namespace handlepool_bench::peers

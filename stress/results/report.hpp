// SPDX-License-Identifier: MIT
#pragma once

#include "oracle/event.hpp"
#include "oracle/histogram.hpp"
#include "series.hpp"
#include "watched/findings.hpp"

#include <handlepool/stats.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace handlepool::stress {

using named_texts = std::vector<std::pair<std::string, std::string>>;

// What a run counts and measures.
struct report {
    std::string command; // what was run
    std::string summary{};
    named_texts parameters{};
    std::string again{}; // the command line that does the same
    std::size_t threads = 0;
    std::size_t frames = 0;
    double seconds = 0;
    std::uint64_t timed_operations = 0; // in those seconds; the checks at the end come after them
    std::size_t sampled = 1;            // the histories of one slot in this many were checked
    findings all{};
    std::size_t alive_peak = 0;                                // at the end of a frame, or of a pool
    std::array<histogram, operation_names.size()> latencies{}; // nanoseconds
    longest_series compactions{};                              // microseconds
    time_series over_time{};
    histogram reuse_distances{};
    pool_stats pool{}; // at the end; the counts are of all pools of the run together, and `alive` of the last
    named_texts facts{}; // what else there is to tell

    bool passed() const noexcept { return all.passed(); }
    double operations_per_second() const noexcept {
        return static_cast<double>(timed_operations) / std::max(seconds, 1e-9);
    }
    // Adds the counts of a pool as it ended, after those before it, which are gone with all that was alive in
    // them. Of the reuse distances, the one that is nearest to its limit is kept.
    void add_pool(const pool_stats& stats);

    // Adds another run of the same, as if it had followed this one. Facts are those of the other.
    report& operator+=(const report& next);

    const histogram& latency(operation what) const noexcept {
        return latencies[static_cast<std::size_t>(what)];
    }
};

// ---- For people

std::string to_text(const report& result);

// One line of the table that `run all` prints as it goes on, and the line above it.
std::string table_head();
std::string table_row(const report& result);

// What follows the table: the sums, and what failed.
std::string summary_of(std::span<const report> results);

} // namespace handlepool::stress

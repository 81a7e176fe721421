#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace handlepool::stress::page {

// What the result files say; stress/README.md describes their keys. What a file leaves out is empty here.

// counts[i] values are about upper[i], and not above: buckets are narrow, and empty ones may be left out.
struct histogram {
    std::vector<double> upper{};
    std::vector<std::uint64_t> counts{};
};

// Of one operation, in nanoseconds.
struct latency {
    std::string operation;
    std::optional<std::uint64_t> count{};
    std::optional<double> median{};
    std::optional<double> p99{};
    std::optional<double> p999{};
    std::optional<double> worst{};
    histogram distribution{};
};

// Of the compactions that end frames, in microseconds.
struct compaction_times {
    double median = 0;
    double p99 = 0;
    double worst = 0;
};

// The longest compaction of the frames after the point before, up to this one.
struct compaction_series {
    std::vector<double> frames{};
    std::vector<double> microseconds{};
};

struct timeline {
    std::vector<double> seconds{};
    std::vector<std::uint64_t> operations{}; // running total
    std::vector<std::uint64_t> alive{};
};

using named_texts = std::vector<std::pair<std::string, std::string>>;

// A run of one scenario.
struct result {
    std::string name;
    std::string summary{};
    std::string again{}; // the command line that does the same
    named_texts parameters{};
    named_texts facts{};

    std::optional<std::uint64_t> threads{};
    std::optional<std::uint64_t> frames{};
    std::optional<double> seconds{};
    std::optional<std::uint64_t> operations{};
    std::optional<double> operations_per_second{};
    std::optional<std::uint64_t> operations_checked{};
    std::optional<std::uint64_t> sampled{};
    std::optional<std::uint64_t> alive_peak{};
    std::optional<std::uint64_t> alive_final{};
    std::optional<std::uint64_t> created{};
    std::optional<std::uint64_t> destroyed{};
    std::optional<std::uint64_t> live_lookups{};
    std::optional<std::uint64_t> content_mismatches{};
    std::optional<std::uint64_t> stale_lookups{};
    std::optional<std::uint64_t> stale_accepted{};
    std::optional<double> stale_accepted_bound{};
    std::optional<std::uint64_t> forged_lookups{};
    std::optional<std::uint64_t> reuse_delay{};
    std::optional<std::uint64_t> smallest_reuse_distance{};
    std::optional<std::uint64_t> bytes_resident{};

    std::vector<latency> latencies{};
    std::optional<compaction_times> compaction{};
    compaction_series compaction_by_frame{};
    timeline over_time{};
    histogram reuse_distances{};

    std::uint64_t violations = 0;
    std::vector<std::string> violation_messages{};

    bool passed() const noexcept { return violations == 0; }
};

// A result file.
struct result_document {
    std::string file; // as it was named
    std::string version{};
    std::string command_line{};
    std::string started{};
    named_texts machine{};
    std::vector<result> results{};
};

} // namespace handlepool::stress::page

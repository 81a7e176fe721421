#pragma once

#include "tally.hpp"

#include <handlepool/stats.hpp>

#include <nlohmann/json_fwd.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace handlepool::stress {

// The result of a run.
struct report {
    std::string command; // what was run
    std::vector<std::pair<std::string, std::string>> parameters{};
    std::size_t threads = 0;
    std::size_t frames = 0;
    double seconds = 0;
    std::uint64_t timed_operations = 0; // in those seconds; the checks at the end come after them
    std::size_t alive_peak = 0;         // at the end of a frame
    std::vector<std::chrono::nanoseconds> compaction_times{};
    tally all{};
    pool_stats pool{}; // at the end

    bool passed() const noexcept { return all.violations == 0; }
};

// For people.
std::string to_text(const report& result);

// For programs; the keys are documented in stress/README.md.
nlohmann::json to_json(const report& result);

} // namespace handlepool::stress

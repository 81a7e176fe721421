// SPDX-License-Identifier: MIT
#include "children.hpp"
#include "commands.hpp"
#include "progress_models.hpp"
#include "search.hpp"
#include "table.hpp"

#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <support/files/output_file.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace handlepool::model {
namespace {

struct stop_result {
    std::size_t stops = 0; ///< accesses before which the thread was stopped
    std::uint64_t executions = 0;
    bool complete = true;
    bool passed = true;
    std::string failure;
};

/// Stops the model's first thread before each of its accesses in turn.
stop_result stop_everywhere(const model_entry& entry, search_options options) {
    stop_result sum;
    for (std::size_t access = 0;; ++access) {
        options.stop_before = access;
        const search_result found = search(entry, options);
        sum.executions += found.executions;
        if (!found.passed) {
            sum.passed = false;
            sum.failure = fmt::format("stopped before access {}: {}", access, found.failure);
            return sum;
        }
        if (!found.stopped) { // the thread makes no more
            return sum;
        }
        sum.complete = sum.complete && found.complete;
        ++sum.stops;
    }
}

} // namespace

bool run_stops(const stop_options& options) {
    const search_options how{.how = strategy::bounded,
                             .preemptions = options.preemptions,
                             .executions = ~std::uint64_t{0},
                             .seconds = options.seconds};
    constexpr std::size_t operations = stopped_operations.size();
    nlohmann::json results = nlohmann::json::array();
    table rows({{"stopped for ever in", 20},
                {"pool", 17},
                {"stops", 6},
                {"executions", 11},
                {"of them", 8},
                {"result", 0}});
    support::step_counts most{};
    bool as_expected = true;
    in_children(
        operations * scene_names.size(), options.jobs, std::chrono::hours(2),
        [&](std::size_t i) {
            const stop_result found = stop_everywhere(
                progress_model(stopped_operations.at(i % operations), static_cast<scene>(i / operations)),
                how);
            return nlohmann::json{{"stops", found.stops},       {"executions", found.executions},
                                  {"complete", found.complete}, {"passed", found.passed},
                                  {"failure", found.failure},   {"most_accesses", most_accesses}}
                .dump();
        },
        [&](std::size_t i, const child_end& end) {
            const std::string stopped(support::bound_of(stopped_operations.at(i % operations)).operation);
            const char* const where = scene_names.at(i / operations);
            if (!end.failure.empty()) {
                as_expected = false;
                rows.add({stopped, where, "", "", "", "UNEXPECTED: " + end.failure});
                return true;
            }
            nlohmann::json result = nlohmann::json::parse(end.text);
            const bool passed = result["passed"];
            const bool must_pass = static_cast<scene>(i / operations) != scene::behind_a_lock;
            // Behind a lock, and nothing else may go wrong there.
            const bool waits_for_ever = result["failure"].get<std::string>().ends_with("LIVELOCK");
            const bool expected = must_pass ? passed : waits_for_ever;
            as_expected = as_expected && expected;
            for (std::size_t each = 0; must_pass && each != most.size(); ++each) {
                most.at(each) = std::max(most.at(each), result["most_accesses"][each].get<std::size_t>());
            }
            const std::string verdict = passed ? "passed" : "failed: " + result["failure"].get<std::string>();
            rows.add({stopped, where, std::to_string(result["stops"].get<std::size_t>()),
                      std::to_string(result["executions"].get<std::uint64_t>()),
                      result["complete"].get<bool>() ? "all" : "a part",
                      expected ? verdict : "UNEXPECTED: " + verdict});
            result["stopped_in"] = stopped;
            result["pool"] = where;
            results.push_back(std::move(result));
            return true;
        });

    fmt::print("\n");
    const table bounds({{"operation", 10}, {"most accesses to atomics in a call", 0}});
    nlohmann::json bound_results;
    for (const stepped_operation each : stopped_operations) {
        if (const std::size_t accesses = most.at(static_cast<std::size_t>(each)); accesses != 0) {
            const std::string name(support::bound_of(each).operation);
            bounds.add({name, std::to_string(accesses)});
            bound_results[name] = accesses;
        }
    }
    if (options.json != nullptr) {
        options.json->write_json({{"stops", results}, {"most_accesses", bound_results}});
    }
    return as_expected;
}

} // namespace handlepool::model

// SPDX-License-Identifier: MIT
#include "children.hpp"
#include "commands.hpp"
#include "model.hpp"
#include "search.hpp"
#include "table.hpp"

#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <support/files/output_file.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace handlepool::model {
namespace {

struct planned_search {
    const model_entry* entry;
    search_options options;
};

std::string name_of(const search_options& options) {
    switch (options.how) {
    case strategy::random:
        return "random";
    case strategy::bounded:
        return fmt::format("{} preemption{}", options.preemptions, options.preemptions == 1 ? "" : "s");
    case strategy::exhaustive:
        break;
    }
    return "exhaustive";
}

std::vector<planned_search> plan(const std::vector<model_entry>& models, const run_options& options) {
    std::vector<planned_search> planned;
    const auto add = [&](const model_entry& entry, search_options one) {
        one.tell_history = options.history;
        planned.push_back({&entry, one});
    };
    constexpr auto no_limit = ~std::uint64_t{0};
    for (const model_entry& entry : models) {
        if (options.random != 0) {
            add(entry, {.how = strategy::random, .executions = options.random});
        }
        for (const unsigned preemptions : options.preemptions) {
            add(entry, {.how = strategy::bounded,
                        .preemptions = preemptions,
                        .executions = no_limit,
                        .seconds = options.seconds});
        }
        if (options.exhaustive) {
            add(entry, {.how = strategy::exhaustive, .executions = no_limit, .seconds = options.seconds});
        }
    }
    return planned;
}

} // namespace

bool run_models(const run_options& options) {
    const std::vector<model_entry> models = models_named(options.models);
    const std::vector<planned_search> planned = plan(models, options);
    table rows({{"model", 38},
                {"threads", 7},
                {"search", 14},
                {"executions", 12},
                {"of them", 9},
                {"seconds", 8},
                {"result", 0}});
    nlohmann::json results = nlohmann::json::array();
    bool all_passed = true;
    // Far more than a search takes: it is for a library that waits for ever without an access to atomics.
    const auto limit = std::chrono::seconds(static_cast<long>(60 + 10 * options.seconds) +
                                            static_cast<long>(options.random / 1000));
    in_children(
        planned.size(), options.jobs, limit,
        [&](std::size_t i) {
            const search_result found = search(*planned[i].entry, planned[i].options);
            return nlohmann::json{{"passed", found.passed},
                                  {"failure", found.failure},
                                  {"executions", found.executions},
                                  {"complete", found.complete},
                                  {"seconds", found.seconds}}
                .dump();
        },
        [&](std::size_t i, const child_end& end) {
            nlohmann::json result = end.failure.empty() ? nlohmann::json::parse(end.text)
                                                        : nlohmann::json{{"passed", false},
                                                                         {"failure", end.failure},
                                                                         {"executions", 0},
                                                                         {"complete", false},
                                                                         {"seconds", 0.0}};
            const search_options& how = planned[i].options;
            result["model"] = planned[i].entry->name;
            result["threads"] = planned[i].entry->threads;
            result["search"] = name_of(how);
            const bool passed = result["passed"];
            all_passed = all_passed && passed;
            rows.add({planned[i].entry->name, std::to_string(planned[i].entry->threads), name_of(how),
                      std::to_string(result["executions"].get<std::uint64_t>()),
                      result["complete"].get<bool>() ? "all" : "a part",
                      fmt::format("{:.1f}", result["seconds"].get<double>()),
                      passed ? "passed" : "FAILED: " + result["failure"].get<std::string>()});
            results.push_back(std::move(result));
            return passed || !options.first_failure;
        });
    if (options.json != nullptr) {
        options.json->write_json({{"searches", results}});
    }
    return all_passed;
}

} // namespace handlepool::model

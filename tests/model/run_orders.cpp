// SPDX-License-Identifier: MIT
#include "children.hpp"
#include "commands.hpp"
#include "model.hpp"
#include "order_list.hpp"
#include "search.hpp"
#include "table.hpp"
#include "weakening.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <support/files/output_file.hpp>
#include <tests/support/paths.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <map>
#include <ranges>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace handlepool::model {
namespace {

/// Throws std::runtime_error unless the list names exactly the mutants that there are.
void require_complete(const std::vector<order_mutant>& mutants,
                      const std::map<std::string, std::string>& witnesses,
                      const std::filesystem::path& file) {
    std::set<std::string> models;
    for (const model_entry& each : all_models()) {
        models.insert(each.name);
    }
    std::string wrong = differences_from_headers(mutants, witnesses);
    for (const auto& [name, model] : witnesses) {
        if (!model.starts_with(explained) && !models.contains(model)) {
            wrong += "\n  is no model: " + model;
        }
    }
    if (!wrong.empty()) {
        throw std::runtime_error(file.string() + " does not tell what the headers say:" + wrong);
    }
}

/// Looks for an execution in which a model fails, in a few ways.
search_result try_to_fail(const model_entry& entry, double seconds) {
    search_result sum;
    const search_options bounded{
        .how = strategy::bounded, .preemptions = 2, .executions = ~std::uint64_t{0}, .seconds = seconds};
    const search_options random{.how = strategy::random, .executions = 1'000'000, .seconds = seconds};
    const search_options first{.how = strategy::random, .executions = 20'000, .seconds = seconds};
    for (const search_options& how : {first, bounded, random}) {
        const search_result found = search(entry, how);
        sum.passed = found.passed;
        sum.failure = found.failure;
        sum.executions += found.executions;
        sum.seconds += found.seconds;
        if (!found.passed) {
            break;
        }
    }
    return sum;
}

bool check_orders(const std::vector<order_mutant>& mutants, const order_options& options) {
    const std::map<std::string, std::string> witnesses = read_order_witnesses(options.witnesses);
    require_complete(mutants, witnesses, options.witnesses);
    table rows({{"access, one step weaker", 86}, {"seen by", 34}, {"executions", 10}, {"as", 0}});
    nlohmann::json results = nlohmann::json::array();
    std::vector<order_mutant> visible;
    std::vector<order_mutant> invisible;
    std::ranges::partition_copy(
        mutants, std::back_inserter(invisible), std::back_inserter(visible),
        [&](const order_mutant& each) { return witnesses.at(each.name).starts_with(explained); });
    std::size_t killed = 0;
    in_children(
        visible.size(), options.jobs, std::chrono::minutes(20),
        [&](std::size_t i) {
            weakened = visible[i].change;
            const search_result found =
                try_to_fail(models_named({witnesses.at(visible[i].name)}).front(), 120);
            return nlohmann::json{{"killed", !found.passed},
                                  {"failure", weakened.was_made ? found.failure : "never makes this access"},
                                  {"executions", found.executions}}
                .dump();
        },
        [&](std::size_t i, const child_end& end) {
            // A crash is a bug that was seen, too.
            nlohmann::json result = end.failure.empty()
                                        ? nlohmann::json::parse(end.text)
                                        : nlohmann::json{{"killed", end.failure.starts_with("crashed")},
                                                         {"failure", end.failure},
                                                         {"executions", 0}};
            const bool dead = result["killed"];
            killed += dead ? 1 : 0;
            result["access"] = visible[i].name;
            result["model"] = witnesses.at(visible[i].name);
            rows.add({visible[i].name, dead ? witnesses.at(visible[i].name) : "NOBODY",
                      std::to_string(result["executions"].get<std::uint64_t>()),
                      result["failure"].get<std::string>()});
            results.push_back(std::move(result));
            return true;
        });
    for (const order_mutant& each : invisible) {
        const std::string& reason = witnesses.at(each.name);
        rows.add({each.name, "explained", "", reason.substr(explained.size())});
        results.push_back(
            {{"access", each.name}, {"killed", false}, {"explained", reason.substr(explained.size())}});
    }
    fmt::print("\nweakened accesses seen: {} of {}; explained: {}\n", killed, mutants.size(),
               invisible.size());
    if (options.json != nullptr) {
        options.json->write_json({{"orders", results}});
    }
    return killed == visible.size();
}

/// Prints for each mutant the models that see it, those that need the fewest executions first.
bool find_witnesses(const std::vector<order_mutant>& mutants, const order_options& options) {
    bool all = true;
    in_children(
        mutants.size(), options.jobs, std::chrono::hours(1),
        [&](std::size_t i) {
            weakened = mutants[i].change;
            std::vector<std::pair<std::uint64_t, std::string>> seen_by;
            for (const model_entry& entry : all_models()) {
                if (const search_result found = try_to_fail(entry, 4); !found.passed) {
                    seen_by.emplace_back(found.executions, entry.name);
                }
            }
            std::ranges::sort(seen_by);
            return seen_by.empty() ? std::string("NOBODY")
                                   : fmt::format("{}", fmt::join(std::views::values(seen_by), " | "));
        },
        [&](std::size_t i, const child_end& end) {
            all = all && end.failure.empty() && end.text != "NOBODY";
            fmt::print("{} | {}{}\n", mutants[i].name, end.text, end.failure);
            std::fflush(stdout);
            return true;
        });
    return all;
}

} // namespace

bool run_orders(const order_options& options) {
    const std::vector<order_mutant> mutants = all_order_mutants(support::paths::sources);
    return options.find ? find_witnesses(mutants, options) : check_orders(mutants, options);
}

} // namespace handlepool::model

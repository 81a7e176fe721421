// SPDX-License-Identifier: MIT
#include "command_line.hpp"
#include "options.hpp"
#include "results/result.hpp"
#include "run/resources.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace handlepool::stress {

namespace {

constexpr std::string_view all_scenarios = "all";
constexpr std::string_view soak = "soak";

outcome outcome_of(std::span<const report> results, const command_line& line, std::string text) {
    const bool passed = std::ranges::all_of(results, &report::passed);
    return {passed ? 0 : exit_violation, to_json(document_of(results, line.typed, line.started)),
            std::move(text)};
}

outcome run_scenarios(const command_line& line) {
    run_options options = line.running;
    if (options.seconds == 0 && options.operations == 0) {
        options.seconds = 10;
    }
    const std::span<const scenario> known = scenarios();
    if (const auto which = std::ranges::find(known, line.scenario_name, &scenario::name);
        which != known.end()) {
        const report result = run_scenario(*which, options);
        return outcome_of(std::span(&result, 1), line, to_text(result));
    }
    check_resources(options);
    print(table_head());
    const auto show = [](const report& result) {
        print(table_row(result) + (result.passed() ? std::string() : to_text(result)));
    };
    std::span<const placement_kind> with = placements;
    if (line.one_placement) {
        with = {&options.service.placement, 1};
    }
    const std::vector<report> results =
        line.scenario_name == soak ? run_soak(options, with, show) : run_all(options, with, show);
    return outcome_of(results, line, "\n" + summary_of(results));
}

std::vector<std::string> scenario_names() {
    std::vector<std::string> names;
    for (const scenario& each : scenarios()) {
        names.emplace_back(each.name);
    }
    names.emplace_back(soak);
    names.emplace_back(all_scenarios);
    return names;
}

} // namespace

void add_run(CLI::App& app, command_line& line) {
    run_options& options = line.running;
    options.seconds = 0;
    CLI::App& command =
        *app.add_subcommand("run", "Run a scenario, or all of them, and check the history of every handle");
    command.add_option("scenario", line.scenario_name, "Scenario (see below), 'soak' or 'all'")
        ->required()
        ->check([](const std::string& name) -> std::string {
            const std::vector<std::string> names = scenario_names();
            if (std::find(names.begin(), names.end(), name) != names.end()) {
                return {};
            }
            return fmt::format("there is no scenario '{}' (allowed: {})", name, fmt::join(names, ", "));
        });
    add_number(command, "--threads", options.threads, "Threads", 1, 256);
    add_number(command, "--seconds", options.seconds,
               "Time for the whole run; 10 if neither this nor --operations is given", 0.01, 1e7);
    add_number(command, "--operations", options.operations, "Operations of the whole run", 1,
               std::numeric_limits<std::uint64_t>::max() / 2);
    add_number(command, "--alive", options.alive, "Objects alive, where the scenario needs no other number",
               16, 10'000'000);
    add_common(command, options);
    std::string footer = "Scenarios:\n";
    for (const scenario& each : scenarios()) {
        footer += fmt::format("  {:<12}{}\n", each.name, each.summary);
    }
    footer += fmt::format("  {:<12}{}\n  {:<12}{}\n\n", soak,
                          "all of the above in short turns, again and again, with other seeds", all_scenarios,
                          "each of the above for its share of the time");
    footer += "Examples:\n"
              "  handlepool-stress run all --seconds 120 --json result.json\n"
              "  handlepool-stress run race-erase --threads 8 --operations 10000000\n"
              "  handlepool-stress run soak --seconds 3600 --sample 16\n";
    command.footer(footer);
    CLI::Option& placement = *command.get_option("--placement");
    placement.description(placement.get_description() + "; 'soak' and 'all' try each if this is left out");
    command.callback([&line, &placement] {
        line.run = run_scenarios;
        line.one_placement = placement.count() != 0;
    });
}

} // namespace handlepool::stress

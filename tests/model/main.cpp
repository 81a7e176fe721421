// SPDX-License-Identifier: MIT
#include "commands.hpp"
#include "model.hpp"

#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <support/files/output_file.hpp>
#include <tests/support/paths.hpp>

#include <algorithm>
#include <exception>
#include <optional>
#include <string>
#include <thread>

int main(int argc, char** argv) {
    using namespace handlepool::model;

    CLI::App app(
        "Runs the library's headers under a model checker, which tries what threads and weak memory may do.\n"
        "Results are tables of Markdown. Exits with 0 when all is as it must be, with 1 when a model failed "
        "or\n"
        "a weakened access was not seen, with 2 when the command can't be carried out.");
    app.footer(
        "examples:\n"
        "  handlepool-model run                                  all models, some seconds each\n"
        "  handlepool-model run publication --history            one, and the execution that failed\n"
        "  handlepool-model run --random 1000000 --preemptions 2 --preemptions 3 --exhaustive --seconds 180\n"
        "  handlepool-model orders                               each memory order, one step weaker\n"
        "  handlepool-model stops                                a thread stopped before each of its "
        "accesses");
    app.require_subcommand(1);

    const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
    std::string json_path;
    const auto common = [&](CLI::App& command, command_options& options) {
        options.jobs = cores;
        command.add_option("--jobs", options.jobs, "Processes at the same time")
            ->capture_default_str()
            ->check(CLI::Range(1U, 1024U));
        command.add_option("--json", json_path, "Also write the results to this file");
    };

    run_options run;
    CLI::App& run_command = *app.add_subcommand(
        "run", "Searches the executions of models for one that fails. Without a search that is named: "
               "20000 by chance, and all with 2 preemptions");
    run_command.add_option("MODEL", run.models, "Names of models; all when left out");
    run_command.add_option("--random", run.random, "So many executions, chosen by chance")
        ->check(CLI::Range(1UL, 1'000'000'000'000UL));
    run_command
        .add_option("--preemptions", run.preemptions,
                    "All executions with so many preemptions; may be repeated")
        ->check(CLI::Range(0U, 100U))
        ->allow_extra_args(false);
    run_command.add_flag("--exhaustive", run.exhaustive, "All executions");
    run_command.add_option("--seconds", run.seconds, "Limit of each search that is not by chance")
        ->capture_default_str()
        ->check(CLI::Range(0.001, 1e6));
    run_command.add_flag("--history", run.history,
                         "Print the execution that failed, access by access; one process at a time");
    run_command.add_flag("--first-failure", run.first_failure, "End at the first search that fails");
    common(run_command, run);

    app.add_subcommand("list", "Names the models and what they show");

    order_options orders;
    orders.witnesses =
        std::string(handlepool::support::paths::sources) + "/tests/mutants/orders/witnesses.txt";
    CLI::App& orders_command = *app.add_subcommand(
        "orders",
        "Makes each numbered access of the headers weaker, one at a time, and shows that a model sees it");
    orders_command.add_option("--witnesses", orders.witnesses, "List of the models that must see it")
        ->capture_default_str()
        ->check(CLI::ExistingFile);
    CLI::Option& find =
        *orders_command.add_flag("--find", orders.find, "Print all models that see each, instead");
    common(orders_command, orders);
    find.excludes(orders_command.get_option("--json"));

    stop_options stops;
    CLI::App& stops_command = *app.add_subcommand(
        "stops", "Stops a thread for ever before each of its accesses, and shows that the others finish");
    stops_command.add_option("--preemptions", stops.preemptions, "Beside the stop")
        ->capture_default_str()
        ->check(CLI::Range(0U, 100U));
    stops_command.add_option("--seconds", stops.seconds, "Limit of each search")
        ->capture_default_str()
        ->check(CLI::Range(0.001, 1e6));
    common(stops_command, stops);

    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : 2;
    }
    try {
        if (app.got_subcommand("list")) {
            for (const model_entry& each : all_models()) {
                fmt::print("{:<38} {} threads: {}\n", each.name, each.threads, each.shows);
            }
            return 0;
        }
        std::optional<handlepool::support::output_file> json;
        if (!json_path.empty()) {
            run.json = orders.json = stops.json = &json.emplace("--json", json_path);
        }
        if (app.got_subcommand(&run_command)) {
            if (run.random == 0 && run.preemptions.empty() && !run.exhaustive) {
                run.random = 20000;
                run.preemptions = {2};
            }
            if (run.history) { // searches at the same time would print into each other
                run.jobs = 1;
            }
            return run_models(run) ? 0 : 1;
        }
        if (app.got_subcommand(&orders_command)) {
            return run_orders(orders) ? 0 : 1;
        }
        return run_stops(stops) ? 0 : 1;
    } catch (const std::exception& failure) {
        fmt::print(stderr, "handlepool-model: {}\n", failure.what());
        return 2;
    }
}

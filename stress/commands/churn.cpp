// SPDX-License-Identifier: MIT
#include "command_line.hpp"
#include "options.hpp"

#include <cstddef>

namespace handlepool::stress {

namespace {

outcome run_churn_loop(const command_line& line) {
    return outcome_of(churn(line.churning), line);
}

} // namespace

void add_churn(CLI::App& app, command_line& line) {
    churn_options& options = line.churning;
    CLI::App& command = *app.add_subcommand(
        "churn", "Run a synthetic frame loop: a part of the objects is replaced in each frame");
    add_number(command, "--threads", options.threads, "Threads", 1, 1024);
    add_number(command, "--alive", options.alive, "Objects alive", 1, 500'000'000);
    add_number(command, "--churn", options.churn, "Part of them that is replaced in each frame", 0.0, 1.0);
    add_number(command, "--frames", options.frames, "Frames; the first one creates the objects", 1,
               100'000'000);
    add_look_ups(command, options);
    command.footer("Examples:\n"
                   "  handlepool-stress churn --threads 4 --alive 1000000 --churn 0.3 --frames 1000\n"
                   "  handlepool-stress churn --alive 100 --churn 1 --json result.json\n");
    command.callback([&line] { line.run = run_churn_loop; });
}

} // namespace handlepool::stress

// SPDX-License-Identifier: MIT
#include "../optional_parts.hpp"
#include "command_line.hpp"
#include "traces/trace_file.hpp"

#include <CLI/CLI.hpp>

namespace handlepool::stress {

namespace {

outcome run_recover(const command_line& line) {
    record_options options = line.recording;
    options.event_limit = trace_limits{}.events;
    const record_result recorded = recover(line.log_path, options);
    return {0, to_json(recorded, options), to_text(recorded, options)};
}

} // namespace

void add_recover(CLI::App& app, command_line& line) {
    CLI::App& command = *app.add_subcommand(
        "recover", has_recorder ? "Make the trace of a recording that was killed, or found no room for it"
                                : "Recover a recording: not in this build; it needs Linux and zstd");
    command.add_option("log", line.log_path, "What it has left: its output's name, 6 letters, '.recording'")
        ->required();
    command.add_option("--output,-o", line.recording.output, "Trace file to write")->capture_default_str();
    command.footer("Example:\n"
                   "  handlepool-stress recover pbzip2.zst.Ab3dE6.recording --output pbzip2.zst\n");
    command.callback([&line] { line.run = run_recover; });
}

} // namespace handlepool::stress

// SPDX-License-Identifier: MIT
#include "command_line.hpp"
#include "options.hpp"
#include "traces/trace_file.hpp"

#include <support/files/tell.hpp>

namespace handlepool::stress {

namespace {

outcome run_record(const command_line& line) {
    const record_result recorded = record(line.recording);
    support::tell("{}", to_text(recorded, line.recording)); // the standard output is the program's
    const bool is_whole = recorded.exit_status == 0 && recorded.had_room;
    return {is_whole ? 0 : exit_error, to_json(recorded, line.recording)};
}

} // namespace

void add_record(CLI::App& app, command_line& line) {
    record_options& options = line.recording;
    CLI::App& command = *app.add_subcommand(
        "record", has_recorder ? "Record the allocations of a dynamically linked program"
                               : "Record a trace: not in this build; it needs Linux and zstd");
    command.add_option("--output,-o", options.output, "Trace file to write")->capture_default_str();
    add_number(command, "--limit", options.event_limit, "Events to record at the most; the program runs on",
               1, trace_limits{}.events);
    command.add_option("program", options.command, "Program and its arguments, after --")->required();
    command.footer(
        "Example:\n"
        "  handlepool-stress record --output pbzip2.zst -- pbzip2 -p4 -k -f /tmp/file\n\n"
        "The trace is written however the program ends, or the disk is full. Signals that ask\n"
        "for an end are passed on to it. 'recover' makes the trace of a recording that was killed.\n");
    command.callback([&line] { line.run = run_record; });
}

} // namespace handlepool::stress

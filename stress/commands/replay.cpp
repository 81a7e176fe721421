// SPDX-License-Identifier: MIT
#include "command_line.hpp"
#include "options.hpp"
#include "traces/trace_file.hpp"

#include <utility>

namespace handlepool::stress {

namespace {

outcome run_replay(const command_line& line) {
    report result = replay(read_trace(line.trace_path), line.replaying);
    result.parameters.insert(result.parameters.begin(), {"trace", line.trace_path});
    return outcome_of(std::move(result), line);
}

} // namespace

void add_replay(CLI::App& app, command_line& line) {
    replay_options& options = line.replaying;
    CLI::App& command = *app.add_subcommand(
        "replay", has_traces ? "Replay the recorded allocations of a real multithreaded program on the pool"
                             : "Replay a trace: not in this build, which has no zstd");
    command.add_option("trace", line.trace_path, "Trace file, made by 'record'")->required();
    add_number(command, "--threads", options.threads, "Threads to replay on (default: as many as recorded)",
               1, 1024);
    add_number(command, "--frame-ms", options.frame_ms,
               "Recorded milliseconds from one compaction to the next", 0.001, 1e6);
    add_look_ups(command, options);
    command.footer("Examples:\n"
                   "  handlepool-stress replay stress/traces/fd.zst --threads 2 --frame-ms 1\n"
                   "  handlepool-stress replay my.zst --json result.json\n");
    command.callback([&line] { line.run = run_replay; });
}

} // namespace handlepool::stress

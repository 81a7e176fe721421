#include "churn.hpp"
#include "json_file.hpp"
#include "option_range.hpp"
#include "record/recorder.hpp"
#include "record_report.hpp"
#include "replay.hpp"
#include "report.hpp"
#include "trace_reader.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <limits>
#include <new>
#include <optional>
#include <string>
#include <system_error>
#include <typeinfo>

namespace {

using namespace handlepool::stress;

constexpr int exit_violation = 1;
constexpr int exit_error = 2;

// ---- The command line
// -----------------------------------------------------------------------------------------------

struct command_line {
    std::string json_path{}; // empty: none
    std::string trace_path{};
    replay_options replaying{};
    churn_options churning{};
    record_options recording{.output = "trace.zst"};
};

// What replay and churn have in common.
template <class Options>
void add_look_ups(CLI::App& command, Options& options) {
    command
        .add_option("--lookups", options.lookups,
                    "Look-ups of living objects, and as many of dead ones, by each thread in each frame")
        ->transform(number_between<std::size_t>(0, 1'000'000))
        ->capture_default_str();
    command.add_option("--seed", options.seed, "Chooses the objects: the same seed, the same requests")
        ->transform(number_between<std::uint64_t>(0, std::numeric_limits<std::uint64_t>::max()))
        ->capture_default_str();
}

CLI::App& add_replay(CLI::App& app, command_line& line) {
    replay_options& options = line.replaying;
    CLI::App& command = *app.add_subcommand(
        "replay", "Replay the recorded allocations of a real multithreaded program on the pool");
    command.add_option("trace", line.trace_path, "Trace file, made by 'record'")->required();
    command.add_option("--threads", options.threads, "Threads to replay on (default: as many as recorded)")
        ->transform(number_between<std::size_t>(1, 1024));
    command
        .add_option("--frame-ms", options.frame_ms, "Recorded milliseconds from one compaction to the next")
        ->transform(number_between(0.001, 1e6))
        ->capture_default_str();
    add_look_ups(command, options);
    command.footer("Examples:\n"
                   "  handlepool-stress replay stress/traces/fd.zst --threads 2 --frame-ms 1\n"
                   "  handlepool-stress replay my.zst --json result.json\n");
    return command;
}

CLI::App& add_churn(CLI::App& app, command_line& line) {
    churn_options& options = line.churning;
    CLI::App& command = *app.add_subcommand(
        "churn", "Run a synthetic frame loop: a part of the objects is replaced in each frame");
    command.add_option("--threads", options.threads, "Threads")
        ->transform(number_between<std::size_t>(1, 1024))
        ->capture_default_str();
    command.add_option("--alive", options.alive, "Objects alive")
        ->transform(number_between<std::size_t>(1, 500'000'000))
        ->capture_default_str();
    command.add_option("--churn", options.churn, "Part of them that is replaced in each frame")
        ->transform(number_between(0.0, 1.0))
        ->capture_default_str();
    command.add_option("--frames", options.frames, "Frames; the first one creates the objects")
        ->transform(number_between<std::size_t>(1, 100'000'000))
        ->capture_default_str();
    add_look_ups(command, options);
    command.footer("Examples:\n"
                   "  handlepool-stress churn --threads 4 --alive 1000000 --churn 0.3 --frames 1000\n"
                   "  handlepool-stress churn --alive 100 --churn 1 --json result.json\n");
    return command;
}

CLI::App& add_record(CLI::App& app, command_line& line) {
    record_options& options = line.recording;
    CLI::App& command =
        *app.add_subcommand("record", "Record the allocations of a dynamically linked program");
    command.add_option("--output,-o", options.output, "Trace file to write")->capture_default_str();
    command.add_option("--limit", options.event_limit, "Events to record at the most; the program runs on")
        ->transform(number_between<std::uint64_t>(1, trace_limits{}.events))
        ->capture_default_str();
    command.add_option("program", options.command, "Program and its arguments, after --")->required();
    command.footer("Example:\n"
                   "  handlepool-stress record --output pbzip2.zst -- pbzip2 -p4 -k -f /tmp/file\n");
    return command;
}

// ---- The runs
// -------------------------------------------------------------------------------------------------------

int finish(const report& result, json_file* json) {
    if (json != nullptr) {
        json->write(to_json(result));
    }
    fmt::print("{}", to_text(result));
    if (std::fflush(stdout) != 0) {
        throw std::system_error(errno, std::generic_category(), "the report cannot be written");
    }
    return result.passed() ? 0 : exit_violation;
}

int run_replay(const command_line& line, json_file* json) {
    report result = replay(read_trace(line.trace_path), line.replaying);
    result.parameters.insert(result.parameters.begin(), {"trace", line.trace_path});
    return finish(result, json);
}

int run_record(const command_line& line, json_file* json) {
    const record_result recorded = record(line.recording);
    if (json != nullptr) {
        json->write(to_json(recorded, line.recording));
    }
    fmt::print(stderr, "{}", to_text(recorded, line.recording)); // the standard output is the program's
    return recorded.exit_status == 0 ? 0 : exit_error;
}

int run(int argc, char** argv) {
    CLI::App app("Puts the concurrent handle pool under load and checks every answer it gives.",
                 "handlepool-stress");
    app.require_subcommand(0, 1); // one is needed, but an unknown one is better told by its name
    app.footer("Exit code: 0 when everything held, 1 for a violation, 2 when the run could not be made.\n\n"
               "Examples:\n"
               "  handlepool-stress replay stress/traces/fd.zst\n"
               "  handlepool-stress churn --threads 2 --alive 1000000 --churn 0.1\n"
               "  handlepool-stress record --output my.zst -- my_program --its-option\n");
    command_line line;
    const CLI::App& replay_command = add_replay(app, line);
    const CLI::App& churn_command = add_churn(app, line);
    add_record(app, line);
    for (CLI::App* const command : app.get_subcommands({})) {
        command->add_option("--json", line.json_path, "Also write the result to this file, as JSON");
    }
    try {
        app.parse(argc, argv);
        if (app.get_subcommands().empty()) {
            throw CLI::RequiredError::Subcommand(1);
        }
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : exit_error;
    }

    std::optional<json_file> json;
    if (!line.json_path.empty()) {
        json.emplace(line.json_path);
    }
    json_file* const json_output = json ? &*json : nullptr;
    if (replay_command.parsed()) {
        return run_replay(line, json_output);
    }
    if (churn_command.parsed()) {
        return finish(churn(line.churning), json_output);
    }
    return run_record(line, json_output);
}

} // namespace

int main(int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (const std::exception& error) {
        const bool unexplained = typeid(error) == typeid(std::bad_alloc);
        fmt::print(stderr, "handlepool-stress: {}\n",
                   unexplained ? "there is not enough memory for this run" : error.what());
    }
    return exit_error;
}

#include "churn.hpp"
#include "optional_parts.hpp"
#include "page/page.hpp"
#include "page/result_file.hpp"
#include "record/recorder.hpp"
#include "replay.hpp"
#include "report.hpp"
#include "result.hpp"
#include "scenarios.hpp"
#include "trace_file.hpp"

#include <handlepool/timeline.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <support/output_file.hpp>
#include <support/system.hpp>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <limits>
#include <new>
#include <optional>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

namespace {

using namespace handlepool::stress;
using handlepool::support::output_file;

constexpr int exit_violation = 1;
constexpr int exit_error = 2;

// What a run comes to.
struct outcome {
    int code = 0;
    nlohmann::json json{};
    std::string text{}; // for the standard output
};

constexpr std::string_view all_scenarios = "all";
constexpr std::string_view soak = "soak";

struct command_line {
    outcome (*run)(const command_line& line) = nullptr; // the subcommand
    std::string typed{};
    std::chrono::system_clock::time_point started = std::chrono::system_clock::now();
    std::string json_path{};     // empty: none
    std::string timeline_path{}; // empty: none
    std::vector<std::string> report_inputs{};
    std::string page_path{"report.html"};
    std::string scenario_name{};
    run_options running{};
    bool one_placement = false; // of the pools in a run of several scenarios; else all
    std::string trace_path{};
    replay_options replaying{};
    churn_options churning{};
    record_options recording{.output = "trace.zst"};
    std::string log_path{}; // what a recording has left
};

// ---- The runs

void print(const std::string& text) {
    fmt::print("{}", text);
    if (std::fflush(stdout) != 0) {
        throw std::system_error(errno, std::generic_category(), "the report cannot be written");
    }
}

outcome outcome_of(report result, const command_line& line) {
    result.again = line.typed;
    return {result.passed() ? 0 : exit_violation, to_json(result_of(result)), to_text(result)};
}

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

outcome run_replay(const command_line& line) {
    report result = replay(read_trace(line.trace_path), line.replaying);
    result.parameters.insert(result.parameters.begin(), {"trace", line.trace_path});
    return outcome_of(std::move(result), line);
}

outcome run_churn_loop(const command_line& line) {
    return outcome_of(churn(line.churning), line);
}

outcome run_report(const command_line& line) {
    output_file page("--output", line.page_path);
    std::vector<page::result_file> files;
    for (const std::string& path : line.report_inputs) {
        std::error_code none; // of files that are not there
        if (std::filesystem::equivalent(path, line.page_path, none)) {
            throw std::runtime_error(fmt::format("--output: {} is one of the results", line.page_path));
        }
        files.push_back(page::read_result_file(path));
    }
    page.prepare(page::make_page(files));
    print(fmt::format("wrote {}\n", line.page_path));
    page.commit();
    return {};
}

outcome run_record(const command_line& line) {
    const record_result recorded = record(line.recording);
    fmt::print(stderr, "{}", to_text(recorded, line.recording)); // the standard output is the program's
    const bool is_whole = recorded.exit_status == 0 && recorded.had_room;
    return {is_whole ? 0 : exit_error, to_json(recorded, line.recording)};
}

outcome run_recover(const command_line& line) {
    record_options options = line.recording;
    options.event_limit = trace_limits{}.events;
    const record_result recorded = recover(line.log_path, options);
    return {0, to_json(recorded, options), to_text(recorded, options)};
}

// ---- The command line

// Adds an option: a decimal number from `min` to `max`, kept in `value`. What else it is given is refused by
// a message that names the option, the value and what is allowed. Help shows the value that it has when it is
// left out, unless that is none.
template <class Number>
void add_number(CLI::App& command, const std::string& name, Number& value, const std::string& what,
                std::type_identity_t<Number> min, std::type_identity_t<Number> max) {
    const auto check = [min, max](std::string& input) -> std::string {
        Number number{};
        const char* const end = input.data() + input.size();
        const auto [rest, error] = std::from_chars(input.data(), end, number);
        if (error != std::errc() || rest != end ||
            !(number >= min && number <= max)) { // so that nan is refused
            return fmt::format("'{}' is not allowed (allowed: {} to {})", input, min, max);
        }
        input = fmt::to_string(number); // CLI11 would take 010 for an octal number
        return {};
    };
    CLI::Option& added = *command.add_option(name, value, what);
    added.transform(CLI::Validator(check, fmt::format("{} to {}", min, max)));
    if (value >= min) {
        added.capture_default_str();
    }
}

// Adds an option: one of the names, each for the enumerator with its number.
template <class Enum>
void add_choice(CLI::App& command, const std::string& name, Enum& value,
                std::span<const std::string_view> names, const std::string& what) {
    command
        .add_option_function<std::string>(
            name,
            [&value, names](const std::string& given) {
                value = static_cast<Enum>(std::ranges::find(names, given) - names.begin());
            },
            what)
        ->check(CLI::IsMember(std::vector<std::string>(names.begin(), names.end())))
        ->default_str(std::string(name_of(value)));
}

// What replay, churn and run have in common.
template <class Options>
void add_common(CLI::App& command, Options& options) {
    constexpr std::string_view by_whom =
        has_tbb
            ? "Who runs the loops of compactions: oneTBB, threads of its own, or the compacting thread alone"
            : "Who runs the loops of compactions: threads of its own, or the compacting thread alone; this "
              "build has no oneTBB";
    add_choice(command, "--executor", options.service.executor,
               std::span(executor_names).first(has_tbb ? 3 : 2), std::string(by_whom));
    add_choice(command, "--placement", options.service.placement, placement_names,
               "Where the pool keeps its objects: close together, or each at one address for life");
    add_number(command, "--pools", options.service.pools,
               "Pools of the service, the one in question among them", 1, 100);
    add_number(command, "--seed", options.seed, "Chooses the objects: the same seed, the same requests", 0,
               std::numeric_limits<std::uint64_t>::max());
    add_number(command, "--sample", options.sample,
               "Check the histories of one slot in so many only; the other checks see all", 1, 1'000'000);
}

// What replay and churn have in common.
template <class Options>
void add_look_ups(CLI::App& command, Options& options) {
    add_number(command, "--lookups", options.lookups,
               "Look-ups of living objects, and as many of dead ones, by each thread in each frame", 0,
               1'000'000);
    add_common(command, options);
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

void add_report(CLI::App& app, command_line& line) {
    CLI::App& command = *app.add_subcommand(
        "report", "Make one page with charts out of results that were written with --json");
    command.add_option("results", line.report_inputs, "Results of run, replay or churn")->required();
    command.add_option("--output,-o", line.page_path, "Page to write, an HTML file")->capture_default_str();
    command.footer("Example:\n"
                   "  handlepool-stress report all.json replay.json -o report.html\n");
    command.callback([&line] { line.run = run_report; });
}

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

// No file may be written over another one of the same command line.
void check_files_differ(const command_line& line) {
    std::vector<std::pair<std::string_view, std::filesystem::path>> files;
    const auto add = [&files](std::string_view what, const std::filesystem::path& path) {
        std::error_code ignored; // what can't be looked at can't be opened either
        const std::filesystem::file_status status = std::filesystem::status(path, ignored);
        if (path.empty() || (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))) {
            return;
        }
        const std::filesystem::path real = std::filesystem::weakly_canonical(path, ignored);
        for (const auto& [other, others] : files) {
            if (real == others) {
                throw std::runtime_error(
                    fmt::format("{} and {} name the same file: {}", other, what, path.string()));
            }
        }
        files.emplace_back(what, real);
    };
    add("the trace", line.trace_path); // only a replay has one
    add("the log", line.log_path);     // only recover has one
    if (!line.recording.command.empty() || !line.log_path.empty()) {
        add("--output", line.recording.output);
    }
    add("--json", line.json_path);
    add("--trace", line.timeline_path);
}

int run(int argc, char** argv) {
    CLI::App app("Puts the concurrent handle pool under load and checks every answer it gives.",
                 "handlepool-stress");
    app.require_subcommand(0, 1); // one is needed, but an unknown one is reported by its name
    app.set_version_flag("--version", version_text, "Print the version, and how this program was built");
    app.footer("Exit code: 0 when everything held, 1 for a violation, 2 when the run could not be made.\n\n"
               "Examples:\n"
               "  handlepool-stress run all --seconds 60\n"
               "  handlepool-stress replay stress/traces/fd.zst\n"
               "  handlepool-stress churn --threads 2 --alive 1000000 --churn 0.1\n"
               "  handlepool-stress record --output my.zst -- my_program --its-option\n");
    command_line line;
    line.typed = fmt::format("handlepool-stress {}", fmt::join(argv + 1, argv + argc, " "));
    add_run(app, line);
    add_replay(app, line);
    add_churn(app, line);
    add_record(app, line);
    add_recover(app, line);
    for (const char* const name : {"run", "replay", "churn"}) {
        app.get_subcommand(name)->add_option(
            "--trace", line.timeline_path,
            "Also write what happened when to this file, for chrome://tracing or ui.perfetto.dev");
    }
    for (CLI::App* const command : app.get_subcommands({})) {
        command->add_option("--json", line.json_path, "Also write the result to this file, as JSON");
    }
    add_report(app, line); // the only one whose result is no JSON
    try {
        app.parse(argc, argv);
        if (app.get_subcommands().empty()) {
            throw CLI::RequiredError::Subcommand(1);
        }
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : exit_error;
    }

    check_files_differ(line);
    std::optional<output_file> json;
    if (!line.json_path.empty()) {
        json.emplace("--json", line.json_path);
    }
    std::optional<output_file> trace;
    std::optional<handlepool::timeline> records;
    if (!line.timeline_path.empty()) {
        trace.emplace("--trace", line.timeline_path);
        records.emplace(std::size_t{300'000});
        line.running.service.records = line.replaying.service.records = line.churning.service.records =
            &*records;
    }
    const outcome done = line.run(line);
    if (json) {
        json->prepare_json(done.json);
    }
    print(done.text);
    if (trace) {
        std::ostringstream text;
        records->write(text);
        trace->prepare(text.str());
        if (records->dropped() != 0) {
            fmt::print(stderr, "--trace: {} of {} events found no room\n", records->dropped(),
                       records->dropped() + records->size());
        }
    }
    // When all that can fail is done.
    for (std::optional<output_file>* const each : {&json, &trace}) {
        if (*each) {
            (*each)->commit();
        }
    }
    return done.code;
}

} // namespace

int main(int argc, char** argv) {
    handlepool::support::survive_file_size_limit();
    try {
        return run(argc, argv);
    } catch (const std::exception& error) {
        const bool unexplained = typeid(error) == typeid(std::bad_alloc);
        fmt::print(stderr, "handlepool-stress: {}\n",
                   unexplained ? "there is not enough memory for this run" : error.what());
    }
    return exit_error;
}

#include "churn.hpp"
#include "record/recorder.hpp"
#include "replay.hpp"
#include "report.hpp"
#include "trace_reader.hpp"

#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <system_error>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace {

using namespace handlepool::stress;

constexpr int exit_violation = 1;
constexpr int exit_error = 2;

// A file for JSON results. It is opened before the work starts, so that a wrong name costs no run, and gets its name
// when it is whole.
class json_file {
public:
    explicit json_file(std::string path) : path_(std::move(path)), partial_(path_ + ".partial"), stream_(partial_) {
        if (!stream_) {
            throw std::runtime_error(fmt::format("{}: cannot be written: {}", path_,
                                                 std::error_code(errno, std::generic_category()).message()));
        }
    }
    ~json_file() {
        std::error_code ignored; // it is there only when the run or the writing failed
        std::filesystem::remove(partial_, ignored);
    }
    json_file(const json_file&) = delete;
    json_file& operator=(const json_file&) = delete;

    void write(const nlohmann::json& json) {
        stream_ << json.dump(2) << '\n';
        stream_.close();
        if (!stream_) {
            throw std::runtime_error(fmt::format("{}: writing failed", path_));
        }
        std::filesystem::rename(partial_, path_);
    }

private:
    std::string path_;
    std::string partial_;
    std::ofstream stream_;
};

int finish(const report& result, json_file* json) {
    fmt::print("{}", to_text(result));
    if (json != nullptr) {
        json->write(to_json(result));
    }
    return result.passed() ? 0 : exit_violation;
}

nlohmann::json to_json(const record_result& recorded, const record_options& options) {
    nlohmann::json json{{"command", "record"},
                        {"program", options.command},
                        {"trace", options.output.string()},
                        {"events", recorded.summary.events},
                        {"threads", recorded.summary.threads},
                        {"allocations", recorded.summary.allocations},
                        {"frees", recorded.summary.frees},
                        {"cross_thread_frees", recorded.summary.cross_thread_frees},
                        {"alive_peak", recorded.summary.peak_alive},
                        {"seconds", static_cast<double>(recorded.summary.duration_ns) / 1e9},
                        {"dropped_frees", recorded.dropped_frees},
                        {"inferred_frees", recorded.inferred_frees},
                        {"truncated", recorded.truncated}};
    json["exit_status"] = recorded.exit_status ? nlohmann::json(*recorded.exit_status) : nlohmann::json();
    json["signal"] = recorded.signal ? nlohmann::json(*recorded.signal) : nlohmann::json();
    return json;
}

int run_record(const record_options& options, json_file* json) {
    const record_result recorded = record(options);
    const trace_summary& summary = recorded.summary;
    fmt::print(stderr, "{}: {} events of {} threads in {:.2f} s{}; {} allocations, {} frees, {} of them by another "
                       "thread, {} objects alive at the peak\n",
               options.output.string(), summary.events, summary.threads,
               static_cast<double>(summary.duration_ns) / 1e9, recorded.truncated ? ", cut at the limit" : "",
               summary.allocations, summary.frees, summary.cross_thread_frees, summary.peak_alive);
    if (json != nullptr) {
        json->write(to_json(recorded, options));
    }
    if (recorded.signal) {
        fmt::print(stderr, "{}: was killed by signal {}\n", options.command.front(), *recorded.signal);
        return exit_error;
    }
    if (recorded.exit_status.value_or(0) != 0) {
        fmt::print(stderr, "{}: exited with {}\n", options.command.front(), *recorded.exit_status);
        return exit_error;
    }
    return 0;
}

} // namespace

int main(int argc, char** argv) try {
    CLI::App app("Puts the concurrent handle pool under load and checks every answer it gives.");
    app.require_subcommand(1);
    app.footer("Exit code: 0 when everything held, 1 for a violation, 2 when the run could not be made.\n\n"
               "Examples:\n"
               "  handlepool-stress replay stress/traces/NAME.zst\n"
               "  handlepool-stress churn --threads 2 --alive 1000000 --churn 0.1\n"
               "  handlepool-stress record --output my.zst -- my_program --its-option\n");

    std::string json_path;
    const auto add_json = [&](CLI::App* command) {
        command->add_option("--json", json_path, "Also write the result to this file, as JSON");
    };

    replay_options replaying;
    std::string trace_path;
    CLI::App* const replay_command =
        app.add_subcommand("replay", "Replay the recorded allocations of a real multithreaded program on the pool");
    replay_command->add_option("trace", trace_path, "Trace file, made by 'record'")->required();
    replay_command->add_option("--threads", replaying.threads, "Threads to replay on (default: as many as recorded)")
        ->check(CLI::Range(1, 1024));
    replay_command->add_option("--frame-ms", replaying.frame_ms, "Recorded time between two compactions")
        ->check(CLI::Range(0.001, 1e6))
        ->capture_default_str();
    replay_command->add_option("--lookups", replaying.lookups, "Look-ups of living and of dead objects, by each thread in each frame")
        ->check(CLI::Range(0, 1'000'000))
        ->capture_default_str();
    replay_command->add_option("--seed", replaying.seed, "Chooses what is looked up")->capture_default_str();
    add_json(replay_command);
    replay_command->footer("Examples:\n"
                           "  handlepool-stress replay stress/traces/NAME.zst --threads 2 --frame-ms 1\n"
                           "  handlepool-stress replay my.zst --json result.json\n");

    churn_options churning;
    CLI::App* const churn_command =
        app.add_subcommand("churn", "Run a synthetic frame loop: a part of the objects is replaced in each frame");
    churn_command->add_option("--threads", churning.threads, "Threads")->check(CLI::Range(1, 1024))->capture_default_str();
    churn_command->add_option("--alive", churning.alive, "Objects alive")
        ->check(CLI::Range(1, 500'000'000))
        ->capture_default_str();
    churn_command->add_option("--churn", churning.churn, "Part of them that is replaced in each frame")
        ->check(CLI::Range(0.0, 1.0))
        ->capture_default_str();
    churn_command->add_option("--frames", churning.frames, "Frames")
        ->check(CLI::Range(1, 1'000'000'000))
        ->capture_default_str();
    churn_command->add_option("--lookups", churning.lookups, "Look-ups of living and of dead objects, by each thread in each frame")
        ->check(CLI::Range(0, 1'000'000))
        ->capture_default_str();
    churn_command->add_option("--seed", churning.seed, "Chooses what is replaced and looked up")->capture_default_str();
    add_json(churn_command);
    churn_command->footer("Example:\n  handlepool-stress churn --threads 4 --alive 1000000 --churn 0.3 --frames 1000\n");

    record_options recording;
    std::string output = "trace.zst";
    CLI::App* const record_command =
        app.add_subcommand("record", "Record the allocations of a dynamically linked program");
    record_command->add_option("--output,-o", output, "Trace file to write")->capture_default_str();
    record_command->add_option("--limit", recording.event_limit, "Events to record at the most; the program runs on")
        ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 26))
        ->capture_default_str();
    record_command->add_option("program", recording.command, "Program and its arguments, after --")->required();
    add_json(record_command);
    record_command->footer("Example:\n  handlepool-stress record --output pbzip2.zst -- pbzip2 -p4 -k -f /tmp/file\n");

    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : exit_error;
    }

    std::optional<json_file> json;
    if (!json_path.empty()) {
        json.emplace(json_path);
    }
    json_file* const json_output = json ? &*json : nullptr;

    if (replay_command->parsed()) {
        report result = replay(read_trace(trace_path), replaying);
        result.parameters = {{"trace", trace_path},
                             {"frame_ms", fmt::to_string(replaying.frame_ms)},
                             {"seed", fmt::to_string(replaying.seed)}};
        return finish(result, json_output);
    }
    if (churn_command->parsed()) {
        return finish(churn(churning), json_output);
    }
    recording.output = output;
    return run_record(recording, json_output);
} catch (const std::exception& error) {
    fmt::print(stderr, "handlepool-stress: {}\n", error.what());
    return exit_error;
}

// SPDX-License-Identifier: MIT
#include "commands/command_line.hpp"
#include "optional_parts.hpp"
#include "results/result.hpp"

#include <handlepool/detail/text/text.hpp>
#include <handlepool/timeline.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <src/shared/behind_links.hpp>
#include <support/files/output_file.hpp>
#include <support/files/tell.hpp>
#include <support/programs/system.hpp>

#include <exception>
#include <filesystem>
#include <new>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <typeinfo>
#include <utility>
#include <vector>

namespace {

using namespace handlepool::stress;
using handlepool::detail::printable;
using handlepool::support::output_file;
using handlepool::support::tell;

// No file may be written over another one of the same command line.
void check_files_differ(const command_line& line) {
    std::vector<std::pair<std::string_view, std::filesystem::path>> files;
    const auto add = [&files](std::string_view what, const std::filesystem::path& path) {
        std::error_code ignored; // what can't be looked at can't be opened either
        const std::filesystem::file_status status = std::filesystem::status(path, ignored);
        if (path.empty() || (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))) {
            return;
        }
        const std::filesystem::path target =
            std::filesystem::absolute(handlepool::behind_links(path), ignored);
        std::error_code error; // as of links in a circle, which are no file
        std::filesystem::path real = std::filesystem::weakly_canonical(target, error);
        real = error ? target : real;
        for (const auto& [other, others] : files) {
            if (real == others) {
                throw std::runtime_error(
                    fmt::format("{} and {} name the same file: {}", other, what, path.string()));
            }
        }
        files.emplace_back(what, std::move(real));
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
    app.failure_message([](const CLI::App*, const CLI::Error& error) {
        return printable(error.what()) + "\nRun with --help for more information.\n";
    });
    command_line line;
    line.typed = fmt::format("handlepool-stress {}", fmt::join(argv + 1, argv + argc, " "));
    if constexpr (has_run) {
        add_run(app, line);
    }
    if constexpr (has_replay) {
        add_replay(app, line);
    }
    if constexpr (has_churn) {
        add_churn(app, line);
    }
    for (CLI::App* const command : app.get_subcommands({})) {
        command->add_option(
            "--trace", line.timeline_path,
            "Also write what happened when to this file, for chrome://tracing or ui.perfetto.dev");
    }
    if constexpr (has_record) {
        add_record(app, line);
    }
    if constexpr (has_recover) {
        add_recover(app, line);
    }
    for (CLI::App* const command : app.get_subcommands({})) {
        command->add_option("--json", line.json_path, "Also write the result to this file, as JSON");
    }
    if constexpr (has_report) {
        add_report(app, line); // the only one whose result is no JSON
    }
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
            tell("--trace: {} of {} events found no room\n", records->dropped(),
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
    handlepool::support::keep_standard_streams();
    handlepool::support::survive_file_size_limit();
    try {
        return run(argc, argv);
    } catch (const std::exception& error) {
        const bool unexplained = typeid(error) == typeid(std::bad_alloc);
        tell("handlepool-stress: {}\n",
             printable(unexplained ? "there is not enough memory for this run" : error.what()));
    }
    return exit_error;
}

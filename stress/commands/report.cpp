// SPDX-License-Identifier: MIT
#include "../page/page.hpp"
#include "../page/result_file.hpp"
#include "command_line.hpp"

#include <handlepool/detail/text/text.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <support/files/output_file.hpp>

#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

namespace handlepool::stress {

namespace {

outcome run_report(const command_line& line) {
    support::output_file page("--output", line.page_path);
    std::vector<page::result_file> files;
    for (const std::string& path : line.report_inputs) {
        std::error_code none; // of files that are not there
        if (std::filesystem::equivalent(path, line.page_path, none)) {
            throw std::runtime_error(fmt::format("--output: {} is one of the results", line.page_path));
        }
        files.push_back(page::read_result_file(path));
    }
    page.prepare(page::make_page(files));
    print(fmt::format("wrote {}\n", detail::printable(line.page_path)));
    page.commit();
    return {};
}

} // namespace

void add_report(CLI::App& app, command_line& line) {
    CLI::App& command = *app.add_subcommand(
        "report", "Make one page with charts out of results that were written with --json");
    command.add_option("results", line.report_inputs, "Results of run, replay or churn")->required();
    command.add_option("--output,-o", line.page_path, "Page to write, an HTML file")->capture_default_str();
    command.footer("Example:\n"
                   "  handlepool-stress report all.json replay.json -o report.html\n");
    command.callback([&line] { line.run = run_report; });
}

} // namespace handlepool::stress

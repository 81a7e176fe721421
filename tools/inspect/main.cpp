// SPDX-License-Identifier: MIT
#include "page/page_server.hpp"
#include "pool_growth.hpp"
#include "report.hpp"

#include <handlepool/detail/text/text.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <src/core/recorder/debug_info.hpp>
#include <src/core/recorder/depots.hpp>
#include <support/files/flush_output.hpp>
#include <support/files/tell.hpp>
#include <support/programs/system.hpp>
#include <tools/handle_number.hpp>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <iterator>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <typeinfo>
#include <utility>
#include <vector>

#ifndef _WIN32
#include <unistd.h>
#endif

namespace {

using namespace handlepool::inspect_tool;
using handlepool::detail::printable;

constexpr int exit_error = 2;

struct command_line {
    std::string program;
    std::string handle;
    bool with_bytes = false;
    bool json = false;
    bool prometheus = false;
    double watch_seconds = 0; // 0: once
    bool page = false;
    page_options served;
    std::string recorded; // the folder of the world; empty: none
    wishes asked;
};

/// Whose code is named. A name is asked for without anything else being known, so there is one.
int named_process = 0;

std::string name_of_code(std::uintptr_t address) {
    // Where it has other files under these names, they would name other code.
    std::string name = sees_the_same_files(named_process)
                           ? handlepool::detail::name_by_debug_info(address, named_process)
                           : std::string();
    return name.empty() ? place_of_call(named_process, address) : name;
}

void print(const std::string& text) {
    fmt::print("{}", text);
    handlepool::support::flush_output();
}

/// The programs with pools that can be read. Others are passed over: most are no business of this one's.
std::vector<inspected_program> find_programs() {
    std::vector<inspected_program> found;
    for (const int process : readable_processes()) {
        try {
            const auto programs = inspected_program::in_process(process);
            found.insert(found.end(), programs.begin(), programs.end());
        } catch (const process_unreadable&) {
        } catch (const memory_gone&) {
        }
    }
    return found;
}

std::vector<inspected_program> find_programs(const std::string& named) {
    int process = 0;
    const auto [end, error] = std::from_chars(named.data(), named.data() + named.size(), process);
    if (error == std::errc() && end == named.data() + named.size() && process > 0) {
        auto found = inspected_program::in_process(process);
        if (found.empty()) {
            throw std::runtime_error(
                fmt::format("process {} has no pools: it does not use the library", process));
        }
        return found;
    }
    std::vector<inspected_program> found;
    for (const inspected_program& each : find_programs()) {
        if (each.name() == named) {
            if (!found.empty() && found.back().process() != each.process()) {
                throw std::runtime_error(
                    fmt::format("several processes run '{}', among them {} and {}: name one "
                                "by its number",
                                printable(named), found.back().process(), each.process()));
            }
            found.push_back(each);
        }
    }
    if (found.empty()) {
        throw std::runtime_error(fmt::format("no process that may be read runs a program '{}' with pools; "
                                             "without arguments, this lists those that do",
                                             printable(named)));
    }
    return found;
}

std::vector<std::string> names_of_pools(const inspected_program& program) {
    std::vector<std::string> names;
    for (const handlepool::detail::living_pool& each : program.pools()) {
        try {
            names.push_back(printable(inspected_pool(program, each).name()));
        } catch (const memory_gone&) { // it has just ended
        }
    }
    return names;
}

void list_programs(const command_line& line) {
    nlohmann::ordered_json json = nlohmann::ordered_json::array();
    std::string text;
    for (const inspected_program& each : find_programs()) {
        try {
            const std::vector<std::string> names = names_of_pools(each);
            json.push_back({{"process", each.process()}, {"name", printable(each.name())}, {"pools", names}});
            text += fmt::format("{:>9}  {}: {}\n", each.process(), printable(each.name()),
                                names.empty() ? "no pools" : fmt::format("{}", fmt::join(names, ", ")));
        } catch (const process_unreadable&) { // it has just ended
        } catch (const memory_gone&) {
        }
    }
    if (line.json) {
        print(json.dump(2) + "\n");
    } else {
        print(text.empty() ? "No process that may be read has pools. Those of other users, and where "
                             "/proc/sys/kernel/yama/ptrace_scope is not 0 all others, need sudo.\n"
                           : text);
    }
}

/// What each pool with the handle's pool id says of it: there may be several, of different layouts.
void tell_of_handle(const command_line& line, const std::vector<inspected_program>& programs) {
    const std::uint64_t handle = handlepool::number_of_handle(line.handle);
    nlohmann::ordered_json json = nlohmann::ordered_json::array();
    std::string text;
    for (const inspected_program& program : programs) {
        for (const handlepool::detail::living_pool& each : program.pools()) {
            const auto told = told_of_handle(program, each, line.asked.pool, handle, line.with_bytes);
            if (!told) {
                continue;
            }
            text += (*told)["text"].get<std::string>() + "\n";
            if (line.with_bytes && !(*told)["bytes"].is_null()) {
                text += fmt::format("  {}\n", (*told)["bytes"].get<std::string>());
            }
            json.push_back(*told);
        }
    }
    if (json.empty()) {
        throw std::runtime_error(
            fmt::format("no pool{} in process {} has the pool id of the handle {:#x}",
                        line.asked.pool.empty() ? "" : fmt::format(" '{}'", printable(line.asked.pool)),
                        programs.front().process(), handle));
    }
    print(line.json ? json.dump(2) + "\n" : text);
}

[[noreturn]] void throw_no_pool(const command_line& line, const std::vector<inspected_program>& programs) {
    std::vector<std::string> names;
    for (const inspected_program& each : programs) {
        std::ranges::copy(names_of_pools(each), std::back_inserter(names));
    }
    throw std::runtime_error(fmt::format("process {} has no pool '{}'; it has {}", programs.front().process(),
                                         printable(line.asked.pool),
                                         names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "))));
}

bool writes_to_terminal() {
#ifdef _WIN32
    return false;
#else
    return isatty(STDOUT_FILENO) == 1;
#endif
}

void tell_of_programs(const command_line& line, const std::vector<inspected_program>& programs,
                      growth_of_pools& growth) {
    std::vector<program_report> reports;
    bool has_pools = false;
    for (const inspected_program& each : programs) {
        try {
            reports.push_back(look(each, line.asked));
            has_pools = has_pools || !reports.back().pools.empty();
        } catch (const process_unreadable& error) {
            if (!line.program.empty()) {
                throw;
            }
            handlepool::support::tell("handlepool-inspect: {}\n",
                                      printable(error.what())); // and goes on with others
        }
    }
    if (!line.asked.pool.empty() && !has_pools && line.watch_seconds == 0) {
        throw_no_pool(line, programs);
    }
    growth.tell(reports);
    std::string text;
    if (line.prometheus) {
        text = prometheus_of(reports);
    } else if (line.json) {
        nlohmann::ordered_json json = nlohmann::ordered_json::array();
        for (const program_report& each : reports) {
            json.push_back(json_of(each));
        }
        // One line for each look, where there are many.
        text = json.dump(line.watch_seconds > 0 ? -1 : 2) + "\n";
    } else {
        if (line.watch_seconds > 0 && writes_to_terminal()) {
            text = "\033[H\033[2J"; // in place of the look before
        }
        for (const program_report& each : reports) {
            text += text_of(each);
        }
    }
    print(text);
}

void show_page(const command_line& line, std::vector<inspected_program> programs) {
    const std::string name = printable(programs.front().name());
    pool_watch watch(std::move(programs));
    std::optional<recorded_past> past;
    if (!line.recorded.empty()) {
        past.emplace(line.recorded);
    }
    serve_page(watch, past ? &*past : nullptr, line.served, [&name](const page_address& address) {
        print(fmt::format("The pools of {} are shown at {} until Ctrl-C.\n", name, address.url()));
    });
}

int run(const command_line& line) {
    growth_of_pools growth;
    if (line.program.empty()) {
        if (!line.prometheus) {
            list_programs(line);
            return 0;
        }
        std::vector<inspected_program> all = find_programs();
        tell_of_programs(line, all, growth);
        return 0;
    }
    const std::vector<inspected_program> programs = find_programs(line.program);
    named_process = programs.front().process();
    handlepool::name_sites_by(name_of_code);
    if (!line.handle.empty()) {
        tell_of_handle(line, programs);
        return 0;
    }
    if (line.page) {
        show_page(line, programs);
        return 0;
    }
    tell_of_programs(line, programs, growth);
    while (line.watch_seconds > 0) {
        tell_of_programs(line, programs, growth);
    }
    return 0;
}

int run(int argc, char** argv) {
    CLI::App app(
        "Shows the handle pools of a running program on this machine, without stopping it or writing to "
        "it: what is in them, how old that is, where it was created, and who keeps others waiting. "
        "Without arguments, lists the programs that have pools.",
        "handlepool-inspect");
    app.set_version_flag("--version", "handlepool-inspect " HANDLEPOOL_VERSION, "Print the version");
    command_line line;
    app.add_option("program", line.program,
                   "The number of a process, or the name of the only one that runs it");
    CLI::Option& pool = *app.add_option(
        "--pool", line.asked.pool,
        "Only this pool, with the ages of its objects, the oldest ones, and where all were created");
    app.add_option("--most", line.asked.most, "How many of these places and of the oldest objects")
        ->capture_default_str()
        ->check(CLI::Range(1, 1'000'000));
    CLI::Option& handle =
        *app.add_option("--handle", line.handle, "What is known of one handle's life; by its value");
    app.add_flag("--bytes", line.with_bytes, "The bytes of its object, too, if it lives")->needs(&handle);
    app.add_option("--over", line.asked.seconds,
                   "Seconds between the two looks by which rates and changes are known; 0 for one look")
        ->capture_default_str()
        ->check(CLI::Range(0.0, 3600.0));
    CLI::Option& watch =
        *app.add_option("--watch", line.watch_seconds,
                        "Look again after so many seconds, between which the rates are, "
                        "until the program ends; after twenty looks and two seconds, says which pools grow, "
                        "as text and as JSON")
             ->check(CLI::Range(0.1, 3600.0));
    CLI::Option& json = *app.add_flag("--json", line.json, "Print JSON instead of text");
    CLI::Option& prometheus =
        *app.add_flag("--prometheus", line.prometheus,
                      "Print Prometheus' text format instead; of all programs if none is named");
    CLI::Option& page =
        *app.add_option("--page", line.served.port,
                        "Show all in a page for a browser on this machine, at any free port or at this one, "
                        "until Ctrl-C")
             ->expected(0, 1)
             ->type_name("[PORT]");
    app.add_option("--recorded", line.recorded,
                   "Show in the page, too, what each frame has changed that the program has recorded in this "
                   "folder, by snapshots and journals")
        ->needs(&page);
    app.add_flag("--end-with-program", line.served.ends_with_program, "End the page when the program ends")
        ->needs(&page);
    json.excludes(&prometheus);
    page.excludes(&json, &prometheus, &handle, &watch, &pool);
    handle.excludes(&prometheus);
    handle.excludes(&watch);
    app.footer(
        "Works on Linux. The program must have the same user; where /proc/sys/kernel/yama/ptrace_scope is "
        "not 0, this needs sudo. Places and threads are known of pools with the option record_lives.\n\n"
        "Exit code: 0 for success only; 2 for an error, and when a watched program has ended.\n\n"
        "Examples:\n"
        "  handlepool-inspect\n"
        "  handlepool-inspect game\n"
        "  handlepool-inspect 1234 --pool ships --most 20\n"
        "  handlepool-inspect 1234 --handle 0x1c00003fd --bytes\n"
        "  handlepool-inspect 1234 --watch 5 --json\n"
        "  handlepool-inspect game --page\n"
        "  handlepool-inspect game --page 8080 --recorded saves/today\n"
        "  handlepool-inspect --prometheus --over 0\n");
    app.failure_message([](const CLI::App*, const CLI::Error& error) {
        return printable(error.what()) + "\nRun with --help for more information.\n";
    });
    try {
        app.parse(argc, argv);
        if (line.program.empty() &&
            (handle.count() != 0 || watch.count() != 0 || page.count() != 0 || !line.asked.pool.empty())) {
            throw CLI::RequiredError("program");
        }
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : exit_error;
    }
    line.page = page.count() != 0;
    if (line.page && line.asked.seconds < 0.1) {
        throw std::runtime_error("--over: the page is shown anew each 0.1 to 3600 seconds");
    }
    line.served.interval = std::chrono::duration_cast<std::chrono::nanoseconds>(
        std::chrono::duration<double>(line.asked.seconds));
    if (watch.count() != 0) {
        line.asked.seconds = line.watch_seconds;
    }
    return run(line);
}

} // namespace

int main(int argc, char** argv) {
    handlepool::support::keep_standard_streams();
    try {
        handlepool::detail::make_depots(); // for the names of places
        return run(argc, argv);
    } catch (const std::exception& error) {
        const bool unexplained = typeid(error) == typeid(std::bad_alloc);
        handlepool::support::tell("handlepool-inspect: {}\n",
                                  printable(unexplained ? "there is not enough memory" : error.what()));
    }
    return exit_error;
}

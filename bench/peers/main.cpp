// SPDX-License-Identifier: MIT
#include "measurement.hpp"
#include "results.hpp"
#include "served_contender.hpp"
#include "server.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <support/files/output_file.hpp>
#include <support/files/tell.hpp>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <optional>
#include <regex>
#include <string>
#include <vector>

namespace {

using namespace handlepool_bench::peers;

constexpr const char* help =
    "Compares handlepool with other containers: objects of 64 bytes, a tenth replaced in each frame, "
    "look-ups in\n"
    "random order. Contenders are processes that take turns, round by round, so that what the machine does\n"
    "meanwhile hits all of them. Prints medians and best rounds: nanoseconds an object, of wall time divided "
    "by\n"
    "what all threads did; bytes an object for memory; nanoseconds to construct. Exits with 1 if the judged "
    "row\n"
    "was measured and misses what it must reach.\n";

constexpr const char* examples =
    "\nexamples:\n"
    "  handlepool-peers --filter 'handlepool|packed' --part frames --sizes 100000 --threads 1\n"
    "  handlepool-peers --with build/peers/rust/release/handlepool-peers-rust --json peers.json\n"
    "  handlepool-peers --contenders\n"
    "  echo 'construct 0 fill 30 churn 100000' | handlepool-peers --serve plf::colony --alive 100000 --on "
    "1\n";

struct wishes {
    std::string json;
    std::string filter = ".";
    std::vector<std::string> programs;
    std::vector<std::string> parts = all_parts;
    std::vector<std::size_t> sizes{1'000, 10'000, 100'000, 1'000'000};
    std::vector<unsigned> threads{1, 2, 4, 8};
    std::size_t rounds = 9;
    std::size_t objects = 200'000;
};

std::vector<known_contender> chosen_contenders(const wishes& wanted) {
    std::vector<std::string> programs{std::filesystem::read_symlink("/proc/self/exe").string()};
    std::ranges::copy(wanted.programs, std::back_inserter(programs));
    const std::regex filter(wanted.filter);
    std::vector<known_contender> chosen;
    for (const std::string& program : programs) {
        std::ranges::copy_if(contenders_of(program), std::back_inserter(chosen),
                             [&](const auto& each) { return std::regex_search(each.name, filter); });
    }
    if (chosen.empty()) {
        throw std::invalid_argument(
            fmt::format("--filter: no contender matches '{}'; --contenders lists them", wanted.filter));
    }
    return chosen;
}

int compare(const wishes& wanted) {
    std::optional<handlepool::support::output_file> file;
    if (!wanted.json.empty()) {
        file.emplace("--json", wanted.json);
    }
    const results found = measure({.contenders = chosen_contenders(wanted),
                                   .parts = wanted.parts,
                                   .sizes = wanted.sizes,
                                   .threads = wanted.threads,
                                   .rounds = wanted.rounds,
                                   .objects = wanted.objects});
    fmt::print("{}", found.to_text());
    const auto judged = found.judged();
    if (judged) {
        fmt::print("\n{}", judged->to_text());
    }
    if (file) {
        nlohmann::json all{{"compiler", HANDLEPOOL_COMPILER},
                           {"flags", HANDLEPOOL_FLAGS},
                           {"rounds", wanted.rounds},
                           {"objects_a_round", wanted.objects},
                           {"results", found.to_json()}};
        if (judged) {
            all["judged"] = judged->to_json();
        }
        file->write_json(all);
    }
    return judged && !judged->holds() ? 1 : 0;
}

} // namespace

int main(int argc, char** argv) try {
    CLI::App options(help);
    options.footer(examples);
    wishes wanted;
    bool list = false;
    std::string served;
    std::size_t alive = 100'000;
    unsigned on = 1;
    options.add_option("--json", wanted.json, "Write the results to this file");
    options.add_option("--filter", wanted.filter,
                       "Contenders: those whose names this regular expression matches");
    options.add_option("--with", wanted.programs, "A further program that serves contenders")
        ->check(CLI::ExistingFile);
    options.add_option("--part", wanted.parts, "Parts of the comparison")
        ->check(CLI::IsMember(all_parts))
        ->delimiter(',')
        ->capture_default_str();
    options.add_option("--sizes", wanted.sizes, "Numbers of objects alive")
        ->check(CLI::Range(std::size_t{100}, std::size_t{100'000'000}))
        ->delimiter(',')
        ->capture_default_str();
    options
        .add_option("--threads", wanted.threads,
                    "Numbers of threads; more than two only with 100,000 objects")
        ->check(CLI::Range(1U, 64U))
        ->delimiter(',')
        ->capture_default_str();
    options.add_option("--rounds", wanted.rounds, "Rounds of each contender, beside one to warm up")
        ->check(CLI::Range(std::size_t{3}, std::size_t{1000}))
        ->capture_default_str();
    options.add_option("--objects", wanted.objects, "Objects of each operation in a round, at least")
        ->check(CLI::Range(std::size_t{1000}, std::size_t{100'000'000}))
        ->capture_default_str();
    options.add_flag("--contenders", list,
                     "List the contenders, each after the fewest and the most threads it is for");
    options.add_option(
        "--serve", served,
        "Do the tasks that the standard input names, on this contender: words, each with a number");
    options.add_option("--alive", alive, "With --serve: number of objects")->capture_default_str();
    options.add_option("--on", on, "With --serve: number of threads")->capture_default_str();
    CLI11_PARSE(options, argc, argv);

    if (list) {
        for (const contender_entry& each : own_contenders()) {
            fmt::print("{} {} {}\n", each.fewest_threads, each.most_threads, each.name);
        }
        return 0;
    }
    if (!served.empty()) {
        serve(served, alive, on, std::cin, std::cout);
        return 0;
    }
    return compare(wanted);
} catch (const std::exception& error) {
    handlepool::support::tell("handlepool-peers: {}\n", error.what());
    return 2;
}

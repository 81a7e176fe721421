// SPDX-License-Identifier: MIT
#include "suite.hpp"
#include "table.hpp"

#include <CLI/CLI.hpp>
#include <benchmark/benchmark.h>
#include <support/files/output_file.hpp>
#include <support/files/tell.hpp>

#include <cstdlib>
#include <exception>
#include <iostream>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace {

/// Where more threads want to run than can, two of them hardly ever meet, and a mutex costs them little.
void warn_if_busy() {
    double load = 0;
    const unsigned processors = std::thread::hardware_concurrency();
    if (getloadavg(&load, 1) == 1 && load > processors) {
        handlepool::support::tell(
            "warning: the machine is busy (load {:.1f}, {} processors): figures of two threads mean little\n",
            load, processors);
    }
}

} // namespace

/// Measures the pool against its contenders and prints the table that it is judged by. What the benchmark
/// library prints of each comparison goes to the standard error.
int main(int argc, char** argv) try {
    CLI::App options(
        "Measures handlepool against its contenders. Exits with 1 when a figure misses what it must reach.\n"
        "Options that begin with --benchmark_ go to Google Benchmark.");
    std::string json;
    std::size_t rounds = 31;
    options.add_option("--json", json, "Write the table's rows to this file");
    options.add_option("--rounds", rounds, "Rounds of each comparison")
        ->check(CLI::Range(5, 10'000))
        ->capture_default_str();
    options.allow_extras();
    CLI11_PARSE(options, argc, argv);

    std::vector<std::string> others = options.remaining();
    std::vector<char*> arguments{argv[0]};
    for (std::string& other : others) {
        arguments.push_back(other.data());
    }
    int count = static_cast<int>(arguments.size());
    benchmark::Initialize(&count, arguments.data());
    if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) {
        return 2;
    }

    std::optional<handlepool::support::output_file> file;
    if (!json.empty()) {
        file.emplace("--json", json);
    }
    handlepool_bench::table results;
    handlepool_bench::register_machine(results, rounds);
    handlepool_bench::register_small_pools(results, rounds); // before others leave memory to the allocator
    handlepool_bench::register_one_thread(results, rounds);
    handlepool_bench::register_exclusive(results, rounds);
    handlepool_bench::register_changes(results, rounds);
    handlepool_bench::register_captures(results, rounds);
    handlepool_bench::register_snapshots(results, rounds);
    handlepool_bench::register_hashes(results, rounds);
    handlepool_bench::register_spawners(results, rounds);
    handlepool_bench::register_recorder(results, rounds);
    handlepool_bench::register_look_up(results, rounds);
    handlepool_bench::register_two_threads(results, rounds);
    handlepool_bench::register_frames(results, rounds);
    handlepool_bench::register_guards(results, rounds);
    handlepool_bench::register_stable(results, rounds);
    handlepool_bench::register_sorting(results, rounds);
    handlepool_bench::register_columns(results, rounds);
    handlepool_bench::register_containers(results, rounds);
    handlepool_bench::register_properties(results, rounds);
    handlepool_bench::register_asides(rounds);

    benchmark::ConsoleReporter progress(benchmark::ConsoleReporter::OO_None);
    progress.SetOutputStream(&std::cerr);
    benchmark::RunSpecifiedBenchmarks(&progress);

    results.print();
    warn_if_busy();
    if (file) {
        file->write(results.to_json());
    }
    return results.holds() ? 0 : 1;
} catch (const std::exception& error) {
    handlepool::support::tell("handlepool-bench: {}\n", error.what());
    return 2;
}

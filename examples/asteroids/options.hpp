// SPDX-License-Identifier: MIT
#pragma once

#include "../run_program.hpp"

#include <CLI/CLI.hpp>
#include <support/files/output_file.hpp>
#include <tbb/global_control.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <string>
#include <thread>

namespace asteroids {

struct options {
    std::size_t entities = 10'000;
    std::uint64_t frames = 300;
    std::size_t threads = std::max(1U, std::thread::hardware_concurrency());
    std::uint64_t seed = 1;
    std::string picture;
    std::string trace;
    std::string world;
    std::uint64_t snapshot_every = 100;
    bool deterministic = false;
    bool inspect = false;
    bool json = false;
};

inline void add_options(CLI::App& app, options& chosen) {
    // Opens files before the simulation begins, so that a wrong name costs no run.
    const auto check_writable = [](const std::string& file) -> std::string {
        try {
            const handlepool::support::output_file tried("", file);
            return {};
        } catch (const std::exception& error) {
            return error.what();
        }
    };
    app.option_defaults()->always_capture_default();
    app.add_option("--entities", chosen.entities, "Objects of all kinds together, about")
        ->check(CLI::Range(100, 10'000'000));
    app.add_option("--frames", chosen.frames, "Frames to simulate, with those that --world has already")
        ->check(CLI::Range(1, 1'000'000));
    app.add_option("--threads", chosen.threads, "Threads that run the tasks")->check(CLI::Range(1, 256));
    app.add_option("--seed", chosen.seed, "The same seed makes the same world, with any number of threads")
        ->check(CLI::Range(std::int64_t{0}, std::numeric_limits<std::int64_t>::max()));
    app.add_option("--picture", chosen.picture, "Draw the last frame into this SVG file")
        ->check(check_writable);
    app.add_option("--trace", chosen.trace,
                   "Record what ran when into this file, for chrome://tracing or ui.perfetto.dev")
        ->check(check_writable);
    auto* const folder =
        app.add_option("--world", chosen.world,
                       "Keep the world in this folder, and go on from the last frame that was written there");
    app.add_option(
           "--snapshot-every", chosen.snapshot_every,
           "Frames from a snapshot of the world to the next; between them a journal has their changes")
        ->needs(folder)
        ->check(CLI::Range(1, 1'000'000));
    app.add_flag(
        "--deterministic", chosen.deterministic,
        "The same handles and orders each time, too, with any number of threads; prints a hash of all");
    auto* const json = app.add_flag("--json", chosen.json, "Print the results as JSON");
    app.add_flag(
           "--inspect", chosen.inspect,
           "Show the pools in a page, by handlepool-inspect, at 60 frames a second; and a station that a bug "
           "ends")
        ->excludes(json);
    app.footer(
        "Example:\n"
        "  asteroids --entities 100000 --frames 500 --threads 2 --picture space.svg --trace trace.json\n"
        "  asteroids --frames 100000 --world space   # again and again, however it ends\n"
        "  asteroids --frames 1000 --deterministic   # the same hash with any --threads, on any machine\n"
        "  asteroids --frames 100000 --inspect       # open the address that it prints; Ctrl-C ends it");
}

/// Calls `work(options)` with what the command line says, on so many threads. Returns the exit code of the
/// program, and prints what is wrong if something is.
template <class Work>
int run_with_options(int argc, char** argv, const std::string& description, const Work& work) {
    options chosen;
    CLI::App app(description);
    add_options(app, chosen);
    return examples::run_program(app, argc, argv, [&] {
        // Both are needed: the first allows more threads than processors, the second asks for them.
        const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, chosen.threads);
        tbb::task_arena arena(static_cast<int>(chosen.threads));
        arena.execute([&] { work(chosen); });
    });
}

} // namespace asteroids

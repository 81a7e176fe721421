// SPDX-License-Identifier: MIT
#pragma once

#include "../run_program.hpp"

#include <CLI/CLI.hpp>
#include <tbb/global_control.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>

namespace boids {

struct options {
    std::size_t boids = 20'000;
    unsigned frames = 300;
    unsigned threads = std::max(1U, std::thread::hardware_concurrency());
    std::uint64_t seed = 1;
    std::string picture;
};

/// Calls `work(options)` with what the command line says, on so many threads. Returns the exit code of the
/// program.
template <class Work>
int run_with_options(int argc, char** argv, const std::string& description, const Work& work) {
    options chosen;
    CLI::App app(description);
    app.option_defaults()->always_capture_default();
    app.add_option("--boids", chosen.boids, "How many there are")->check(CLI::Range(1, 1'000'000));
    app.add_option("--frames", chosen.frames, "Frames to simulate")->check(CLI::Range(1, 1'000'000));
    app.add_option("--threads", chosen.threads, "Threads that run the loops")->check(CLI::Range(1, 256));
    app.add_option("--seed", chosen.seed, "The same seed makes the same frames, with any number of threads");
    app.add_option("--picture", chosen.picture, "Draw the last frame into this SVG file");
    app.footer("Example:\n  boids --frames 500 --threads 2 --picture boids.svg");
    return examples::run_program(app, argc, argv, [&] {
        // Both are needed: the first allows more threads than processors, the second asks for them.
        const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, chosen.threads);
        tbb::task_arena arena(static_cast<int>(chosen.threads));
        arena.execute([&] { work(chosen); });
    });
}

} // namespace boids

// SPDX-License-Identifier: MIT
#pragma once

#include "../run_program.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>

namespace vulkan_upload {

struct options {
    std::size_t trees = 10'000;
    std::uint64_t frames = 1'000;
    std::size_t threads = std::max(1U, std::thread::hardware_concurrency());
    std::uint64_t seed = 1;
    std::size_t kept = 8;
    std::size_t max_gap = 4;
    bool json = false;
};

/// Calls `work(options)` with what the command line says. Returns the exit code of the program.
template <class Work>
int run_with_options(int argc, char** argv, const std::string& description, const Work& work) {
    options chosen;
    CLI::App app(description);
    app.option_defaults()->always_capture_default();
    app.add_option("--trees", chosen.trees, "Trees at first; there will be more")
        ->check(CLI::Range(100, 10'000'000));
    app.add_option("--frames", chosen.frames, "Frames to upload")->check(CLI::Range(1, 1'000'000));
    app.add_option("--threads", chosen.threads, "Threads that create, edit and erase trees")
        ->check(CLI::Range(1, 256));
    app.add_option("--seed", chosen.seed, "The same seed makes the same trees, with any number of threads")
        ->check(CLI::Range(1U, 1'000'000'000U));
    app.add_option("--kept", chosen.kept, "Frames of which the log keeps what has changed")
        ->check(CLI::Range(1, 65'536));
    app.add_option("--max-gap", chosen.max_gap,
                   "Trees between two ranges that are uploaded as one, with what is between them")
        ->check(CLI::Range(0, 1'000'000'000));
    app.add_flag("--json", chosen.json, "Print the results as JSON");
    app.footer("Examples:\n  vulkan_upload --trees 100000 --max-gap 64\n"
               "  vulkan_upload --frames 200 --kept 2 --max-gap 0 --json");
    return examples::run_program(app, argc, argv, [&] { work(chosen); });
}

} // namespace vulkan_upload

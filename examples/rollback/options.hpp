// SPDX-License-Identifier: MIT
#pragma once

#include "../run_program.hpp"

#include <CLI/CLI.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

namespace rollback {

struct options {
    std::uint64_t frames = 1'800;
    std::uint32_t seed = 1;
    std::size_t drones = 24;
    unsigned delay = 150;
    unsigned jitter = 50;
    unsigned loss = 10;
    std::size_t kept = 32;
    std::string picture;
};

/// Calls `work(options)` with what the command line says. Returns the exit code of the program.
template <class Work>
int run_with_options(int argc, char** argv, const std::string& description, const Work& work) {
    options chosen;
    CLI::App app(description);
    app.option_defaults()->always_capture_default();
    app.add_option("--frames", chosen.frames, "Frames to play, sixty of which are a second")
        ->check(CLI::Range(1, 1'000'000));
    app.add_option("--seed", chosen.seed, "The same seed makes the same game")
        ->check(CLI::Range(1U, 1'000'000'000U));
    app.add_option("--drones", chosen.drones, "Drones and stations that there are beside the players")
        ->check(CLI::Range(0, 10'000));
    app.add_option("--delay", chosen.delay, "Milliseconds that a packet takes")->check(CLI::Range(0, 10'000));
    app.add_option("--jitter", chosen.jitter, "Milliseconds that it may take longer, or less long")
        ->check(CLI::Range(0, 10'000));
    app.add_option("--loss", chosen.loss, "Packets of a hundred that get lost")->check(CLI::Range(0, 99));
    app.add_option("--kept", chosen.kept, "Frames that are kept; players who can't go back so far wait")
        ->check(CLI::Range(2, 65'536));
    app.add_option("--picture", chosen.picture, "Draw into this SVG file where the players saw their ships");
    app.footer("Examples:\n  rollback --frames 3600 --loss 30 --picture rollback.svg\n"
               "  rollback --seed 7 --delay 300 --drones 1000 --kept 60");
    return examples::run_program(app, argc, argv, [&] { work(chosen); });
}

} // namespace rollback

// SPDX-License-Identifier: MIT

// Two frames in flight: one thread simulates frame N + 1 while another draws N. Four ways to keep the two
// apart run the same world: one after the other; by a snapshot that is copied between the frames; in place,
// with two copies of what changes; and in place under an access guard. In all of them each frame must show
// each entity of that frame, as it was then, and no mesh may end before the last frame that shows it.

#include "pipelined_frames/ways.hpp"
#include "require.hpp"
#include "run_program.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <functional>
#include <string_view>
#include <vector>

namespace {

using namespace pipelined;

struct options {
    std::size_t entities = 5'000;
    int frames = 60;
    unsigned wait = 0;
    unsigned rounds = 1;
};

/// Runs one way, and checks that all was drawn.
template <std::size_t Copies, class Way>
times run(const settings& chosen, const Way& way) {
    world<Copies> world(chosen.entities, chosen.wait);
    renderer<entity<Copies>> screen(chosen.wait);
    const times measured = way(chosen, world, screen);

    using examples::require;
    const handlepool::pool_stats stats = world.entities().stats();
    require(screen.fault() == nullptr, "{}", screen.fault() == nullptr ? "" : screen.fault());
    require(screen.frames() == chosen.frames, "{} of {} frames were drawn", screen.frames(), chosen.frames);
    require(screen.buried() == stats.destroyed, "{} entities died, the renderer knows of {}", stats.destroyed,
            screen.buried());
    require(screen.drawn_now() == stats.alive, "{} entities live, the last frame shows {}", stats.alive,
            screen.drawn_now());
    require(stats.destroyed != 0, "nothing died in {} frames", chosen.frames);
    return measured;
}

struct way {
    std::string_view name;
    std::function<times(const settings&)> run;
};

const std::array ways = {
    way{"one after the other", [](const settings& chosen) { return run<1>(chosen, in_turn); }},
    way{"one snapshot",
        [](const settings& chosen) {
            return run<1>(chosen, [](auto&... all) { return by_snapshots(all..., 1); });
        }},
    way{"two snapshots",
        [](const settings& chosen) {
            return run<1>(chosen, [](auto&... all) { return by_snapshots(all..., 2); });
        }},
    way{"in place", [](const settings& chosen) { return run<2>(chosen, in_place); }},
    way{"in place under a guard", [](const settings& chosen) { return run<2>(chosen, under_a_guard); }},
};

milliseconds median(std::vector<times>& of, milliseconds times::* part) {
    const auto middle = of.begin() + static_cast<std::ptrdiff_t>(of.size() / 2);
    std::ranges::nth_element(of, middle, {}, part);
    return (*middle).*part;
}

void run_all(const options& chosen) {
    const settings each{chosen.entities, chosen.frames, std::chrono::microseconds(chosen.wait)};
    std::array<std::vector<times>, ways.size()> measured;
    for (unsigned round = 0; round != chosen.rounds; ++round) { // the ways take turns
        for (std::size_t i = 0; i != ways.size(); ++i) {
            measured[i].push_back(ways[i].run(each));
        }
    }
    const milliseconds in_turn = median(measured[0], &times::frame);
    fmt::print("{:24} {:>9} {:>9} {:>9} {:>9}   in frames of the first\n", "", "frame", "simulate", "compact",
               "extract");
    for (std::size_t i = 0; i != ways.size(); ++i) {
        const auto part = [&](milliseconds times::* of) { return median(measured[i], of) / in_turn; };
        fmt::print("{:24} {:9.2f} {:9.2f} {:9.2f} {:9.2f}\n", ways[i].name, part(&times::frame),
                   part(&times::simulate), part(&times::compact), part(&times::extract));
    }
    fmt::print("all frames were drawn, as they were\n");
}

} // namespace

int main(int argc, char** argv) {
    options chosen;
    CLI::App app("Simulates a frame while the last one is drawn, in several ways");
    app.option_defaults()->always_capture_default();
    app.add_option("--entities", chosen.entities, "Entities in the world")->check(CLI::Range(20, 10'000'000));
    app.add_option("--frames", chosen.frames, "Frames to draw; the world fills in the first 20")
        ->check(CLI::Range(22, 100'000));
    app.add_option(
           "--wait", chosen.wait,
           "Microseconds for which the simulation waits in each frame, as for jobs, and the renderer, as "
           "for a graphics card")
        ->check(CLI::Range(0, 1'000'000));
    app.add_option("--rounds", chosen.rounds, "Rounds, in which the ways take turns; medians are printed")
        ->check(CLI::Range(1, 1000));
    app.footer("Example:\n  pipelined_frames --entities 100000 --wait 8000 --frames 60 --rounds 9");
    return examples::run_program(app, argc, argv, [&] { run_all(chosen); });
}

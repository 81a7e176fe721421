// SPDX-License-Identifier: MIT

// A game of two over a bad network, by rollback: each player has a world of its own, and doesn't wait for the
// other. Frames run with a guess at the other's input; when that arrives and was another one, rings of
// captures take the pools back, and the frames since then are simulated again. Ships and shots that know each
// other by handle go back with their handles, and both worlds come to give out the same ones. Time is
// simulated too, so the program runs as fast as it can, and does the same on each run.

#include "require.hpp"
#include "rollback/options.hpp"
#include "rollback/picture.hpp"
#include "rollback/player.hpp"

#include <fmt/format.h>
#include <support/files/output_file.hpp>

#include <array>
#include <barrier>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <thread>
#include <vector>

namespace {

using namespace rollback;
using examples::require;

/// Each in a thread of its own. Threads meet after each frame, as if clocks kept them together.
void play(std::array<player, players>& both) {
    std::uint64_t now = 0;
    bool over = false;
    std::array<std::exception_ptr, players> errors;
    std::barrier end_of_frame(players, [&]() noexcept {
        ++now;
        over = errors[0] || errors[1] || (both[0].is_done() && both[1].is_done());
    });
    const auto work = [&](std::size_t self) {
        while (!over) {
            try {
                if (now == 0) {
                    both[self].begin();
                } else {
                    both[self].play(now);
                }
            } catch (...) {
                errors[self] = std::current_exception();
            }
            end_of_frame.arrive_and_wait();
        }
    };
    {
        std::jthread first(work, std::size_t{0});
        std::jthread second(work, std::size_t{1});
    }
    for (const std::exception_ptr& each : errors) {
        if (each) {
            std::rethrow_exception(each);
        }
    }
}

/// Requires that both worlds were, in each frame, the one that needs no guesses because it has all inputs.
/// Returns where that has the ships.
std::vector<sight> compare(const options& chosen, const std::array<player, players>& both) {
    world all_known(chosen.seed, chosen.drones);
    std::vector<sight> truth;
    for (std::uint64_t frame = 0; frame <= chosen.frames; ++frame) {
        all_known.simulate({both[0].inputs_of_own()[frame], both[1].inputs_of_own()[frame]});
        all_known.ships.compact();
        all_known.shots.compact();
        truth.push_back(look_at(all_known));
        for (std::size_t i = 0; i != players; ++i) {
            require(both[i].fingerprints[frame] == all_known.fingerprint(),
                    "player {}: frame {} is not that of a world without a network", i + 1, frame);
        }
    }
    return truth;
}

void print(const player& one, std::size_t number) {
    const past& times = one.times();
    fmt::print("player {}: {} restores, the longest of {} frames; {} frames again; waited in {}\n"
               "  a capture takes {:.1f} us, a restore {:.1f} us\n"
               "  {} ships announced, {} undone; score {}\n",
               number + 1, times.restores.count, one.longest_repair, one.repaired_frames, one.waits,
               times.captures.average(), times.restores.average(), one.announced, one.undone,
               one.space.now.score[number]);
}

void run(const options& chosen) {
    // First, so that a wrong name costs no simulation.
    const auto picture =
        chosen.picture.empty()
            ? nullptr
            : std::make_unique<handlepool::support::output_file>("--picture", chosen.picture);
    const auto frames_of = [](unsigned milliseconds) { return milliseconds * 60 / 1000; };
    const connection_quality quality{frames_of(chosen.delay), frames_of(chosen.jitter), chosen.loss};
    connection there(chosen.seed + 100, quality);
    connection back(chosen.seed + 200, quality);
    const settings game{chosen.frames, chosen.seed, chosen.drones, chosen.kept};
    std::array<player, players> both = {player(0, game, there, back), player(1, game, back, there)};
    play(both);
    const std::vector<sight> truth = compare(chosen, both);

    for (std::size_t i = 0; i != players; ++i) {
        print(both[i], i);
        require(both[i].announced == both[i].space.now.ships_built,
                "{} ships were built, player {} announced {}", both[i].space.now.ships_built, i + 1,
                both[i].announced);
        require(both[i].times().restores.count != 0 || chosen.delay + chosen.jitter == 0 ||
                    chosen.frames < 60,
                "nothing was restored");
    }
    fmt::print("{} frames, {} ships and {} shots at the end\nfingerprint {:016x}\n", chosen.frames,
               both[0].space.ships.size(), both[0].space.shots.size(), both[0].fingerprints.back());
    if (picture) {
        picture->write(draw({both[0].seen, both[1].seen}, truth));
    }
}

} // namespace

int main(int argc, char** argv) {
    return run_with_options(argc, argv, "Two players whose worlds go back in time when a guess was wrong",
                            run);
}

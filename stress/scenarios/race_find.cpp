// SPDX-License-Identifier: MIT

// Threads look up and read what others erase: they find the object, whole, or nothing.

#include "run/scenarios.hpp"
#include "run/shared_handles.hpp"
#include "watched/watched_pool.hpp"

#include <support/steps/tiny_policy.hpp>

#include <algorithm>
#include <cstddef>
#include <random>
#include <vector>

namespace handlepool::stress {

namespace {

template <class Placement, class Policy>
void run_until(test_run& run, double part, std::size_t alive) {
    const std::size_t steps = std::clamp<std::size_t>(alive / run.threads(), 1024, 4096);
    watched_pool<Placement, Policy> pool(
        run, {.name = "race-find", .capacity = alive + steps * run.threads(), .reuse_delay = 16});
    shared_handles<typename watched_pool<Placement, Policy>::handle_type> shared(alive);
    for (std::size_t seat = 0; seat < alive; ++seat) {
        shared.put(seat, pool.by_main().create());
    }
    pool.run_frames(part, [&](std::size_t thread) {
        auto& mine = pool.by(thread);
        auto& random = run.random(thread);
        for (std::size_t i = 0; i < steps; ++i) {
            const std::uint64_t choice = random();
            const std::size_t seat = (choice >> 8) % alive;
            const auto handle = shared.get(seat);
            if (choice % 8 == 0) {
                if (mine.erase(handle)) {
                    shared.put(seat, mine.create());
                }
            } else if (choice % 8 == 1) {
                mine.contains(handle);
            } else {
                mine.find(handle);
            }
        }
    });
}

} // namespace

void run_race_find(test_run& run) {
    with_placement(run, [&run]<class Placement>(Placement) {
        run_until<Placement, default_policy>(run, 0.4, run.alive());
        run_until<Placement, default_policy>(run, 0.7, 8); // all meet on a few
        run_until<Placement, support::tiny_policy<2>>(run, 1, 64);
    });
}

} // namespace handlepool::stress

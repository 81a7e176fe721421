// SPDX-License-Identifier: MIT

// All threads erase the same handles at the same moment: exactly one wins each, as the histories show.

#include "run/scenarios.hpp"
#include "watched/watched_pool.hpp"

#include <support/steps/tiny_policy.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace handlepool::stress {

namespace {

template <class Placement, class Policy>
void run_until(test_run& run, double part, std::size_t victims) {
    constexpr std::size_t bundle = 16;
    watched_pool<Placement, Policy> pool(
        run, {.name = "race-erase", .capacity = 2 * victims, .reuse_delay = 16, .record_lives = 1});
    std::vector<typename watched_pool<Placement, Policy>::handle_type> handles(victims);
    while (run.more(part)) {
        run.together([&](std::size_t thread) {
            for (std::size_t i = thread; i < victims; i += run.threads()) {
                handles[i] = pool.by(thread).create();
            }
        });
        run.together([&](std::size_t thread) {
            for (std::size_t i = 0; i < victims; ++i) {
                if (i % bundle == 0) {
                    run.team().meet(); // so that none runs ahead
                }
                pool.by(thread).erase(handles[i]);
                pool.by(thread).contains(handles[i]);
            }
        });
        run.together([&](std::size_t thread) {
            for (std::size_t i = 0; i < victims; i += 64) {
                pool.by(thread).try_stale(handles[i]);
            }
        });
        if (pool.alive() != 0) {
            run.violate(fmt::format("race-erase: {} of {} objects that all threads erased are alive",
                                    pool.alive(), victims));
        }
        pool.end_frame();
    }
    pool.finish();
}

} // namespace

void run_race_erase(test_run& run) {
    with_placement(run, [&run]<class Placement>(Placement) {
        run_until<Placement, default_policy>(run, 0.5, run.alive(4096));
        run_until<Placement, support::tiny_policy<1>>(run, 1, run.alive(512));
    });
}

} // namespace handlepool::stress

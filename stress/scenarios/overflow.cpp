// SPDX-License-Identifier: MIT

// Removal queues of two, so that compaction has to sweep, and bursts of removals by one thread.

#include "run/scenarios.hpp"
#include "watched/watched_pool.hpp"

#include <fmt/format.h>
#include <support/steps/tiny_policy.hpp>

#include <algorithm>
#include <cstddef>
#include <random>
#include <vector>

namespace handlepool::stress {

namespace {

template <class Placement, class Policy>
void run_with_tiny_queues(test_run& run, double part, std::size_t alive) {
    const std::size_t share = std::max<std::size_t>(alive / run.threads(), 16);
    watched_pool<Placement, Policy> pool(run, {.name = "overflow",
                                               .capacity = 2 * share * run.threads(),
                                               .reuse_delay = 16,
                                               .removal_queue_size = 2,
                                               .record_lives = 1});
    std::vector<std::vector<typename watched_pool<Placement, Policy>::handle_type>> held(run.threads());
    for (std::size_t frame = 0; run.more(part); ++frame) {
        run.together([&](std::size_t thread) {
            auto& mine = pool.by(thread);
            auto& random = run.random(thread);
            auto& others = held[(thread + frame) % held.size()];
            while (others.size() < share) {
                others.push_back(mine.create());
            }
            // Few in most frames, so that some queues hold all and others overflow.
            const std::size_t removals = frame % 4 == 0 ? share / 2 : random() % 5;
            for (std::size_t i = 0; i < removals; ++i) {
                mine.erase_any_of(others, random);
            }
        });
        pool.end_frame();
    }
    pool.finish();
}

template <class Placement>
void run_bursts(test_run& run, double part, std::size_t burst) {
    watched_pool<Placement> pool(run, {.name = "bursts", .capacity = burst, .reuse_delay = 0});
    std::vector<typename watched_pool<Placement>::handle_type> all(burst);
    for (std::size_t frame = 0; run.more(part); ++frame) {
        run.together([&](std::size_t thread) {
            for (std::size_t i = thread; i < burst; i += run.threads()) {
                all[i] = pool.by(thread).create();
            }
        });
        run.together([&](std::size_t thread) {
            if (thread == frame % run.threads()) {
                for (const auto handle : all) {
                    pool.by(thread).erase(handle);
                }
            }
        });
        pool.end_frame();
    }
    pool.finish();
}

} // namespace

void run_overflow(test_run& run) {
    with_placement(run, [&run]<class Placement>(Placement) {
        run_with_tiny_queues<Placement, default_policy>(run, 0.3, run.alive());
        run_with_tiny_queues<Placement, support::tiny_policy<1>>(run, 0.6, run.alive(1000));
        run_bursts<Placement>(run, 1, 50 * run.alive());
        run.add_fact("sweeps", run.result().pool.sweeps);
    });
}

} // namespace handlepool::stress

// SPDX-License-Identifier: MIT

// Threads are born and die by the thousand, more at a time than there are processors; they leave objects
// behind, and slots that they had claimed.

#include "run/scenarios.hpp"
#include "watched/watched_pool.hpp"

#include <fmt/format.h>
#include <support/steps/tiny_policy.hpp>
#include <support/threads/thread_team.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace handlepool::stress {

namespace {

constexpr std::size_t at_once = 4; // workers that each thread of the team has at a time

template <class Placement, class Policy>
std::uint64_t run_until(test_run& run, double part) {
    const std::size_t workers = run.threads() * at_once;
    watched_pool<Placement, Policy> pool(
        run, {.name = "threads", .capacity = 100 * workers, .reuse_delay = 16}, workers);
    std::vector<std::vector<typename watched_pool<Placement, Policy>::handle_type>> held(workers);
    std::atomic<std::uint64_t> born = 0;
    for (std::uint64_t frame = 0; run.more(part); ++frame) {
        run.together([&](std::size_t thread) {
            for (int generation = 0; generation < 8; ++generation) {
                support::thread_team(at_once).run([&](std::size_t each) {
                    const std::size_t worker = thread * at_once + each;
                    auto& mine = pool.by(worker);
                    auto& own = held[worker];
                    // One object is enough to claim a bundle of slots.
                    const std::size_t objects = 1 + (frame + worker) % 9;
                    for (std::size_t i = 0; i < objects; ++i) {
                        own.push_back(mine.create());
                    }
                    while (own.size() > 8) {
                        mine.erase_living(own.back());
                        own.pop_back();
                    }
                });
                born += at_once;
            }
        });
        std::rotate(held.begin(), held.begin() + 1, held.end());
        pool.end_frame();
    }
    const std::size_t shards = pool.get().stats().shards;
    // The team, the main thread, which creates nothing, and all that live at the same time. What one thread
    // gave up as it ended the next may not have got yet.
    const std::size_t most_shards = 2 * (run.threads() + workers + 1);
    if (shards > most_shards) {
        run.violate(fmt::format("{} threads at a time left {} shards behind", workers, shards));
    }
    pool.finish();
    return born;
}

} // namespace

void run_threads(test_run& run) {
    with_placement(run, [&run]<class Placement>(Placement) {
        std::uint64_t born = run_until<Placement, default_policy>(run, 0.5);
        born += run_until<Placement, support::tiny_policy<2>>(run, 1);
        run.add_fact("threads born", born);
    });
}

} // namespace handlepool::stress

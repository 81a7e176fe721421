// Removal queues of two, so that compaction has to sweep, and bursts of removals by one thread.

#include "scenarios/all.hpp"
#include "watched_pool.hpp"

#include <fmt/format.h>
#include <support/tiny_policy.hpp>

#include <algorithm>
#include <cstddef>
#include <random>
#include <utility>
#include <vector>

namespace handlepool::stress {

namespace {

template <class Policy>
void run_with_tiny_queues(test_run& run, double part, std::size_t alive) {
    using pool_type = watched_pool<tracked_object, default_layout, Policy>;
    const std::size_t share = std::max<std::size_t>(alive / run.threads(), 16);
    pool_type pool(run, {.name = "overflow",
                         .capacity = 2 * share * run.threads(),
                         .reuse_delay = 16,
                         .removal_queue_size = 2});
    std::vector<std::vector<typename pool_type::handle_type>> held(run.threads());
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
                std::swap(others[random() % others.size()], others.back());
                mine.erase_living(others.back());
                others.pop_back();
            }
        });
        pool.end_frame();
    }
    pool.finish();
}

void run_bursts(test_run& run, double part, std::size_t burst) {
    watched_pool<> pool(run, {.name = "bursts", .capacity = burst, .reuse_delay = 0});
    std::vector<watched_pool<>::handle_type> all(burst);
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
    run_with_tiny_queues<default_policy>(run, 0.3, run.options().alive);
    run_with_tiny_queues<support::tiny_policy<1>>(run, 0.6, std::min<std::size_t>(run.options().alive, 1000));
    run_bursts(run, 1, 50 * run.options().alive);
    run.add_fact("sweeps", fmt::to_string(run.result().pool.sweeps));
}

} // namespace handlepool::stress

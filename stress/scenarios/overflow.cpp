// Removal queues of two, so that compaction has to sweep, and bursts of removals by one thread.

#include "scenarios/all.hpp"
#include "tiny_policy.hpp"
#include "watched_pool.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <random>
#include <utility>
#include <vector>

namespace handlepool::stress {

namespace {

template <class Policy>
void run_with_tiny_queues(conductor& by, double part, std::size_t alive) {
    using pool_type = watched_pool<observed, default_layout, Policy>;
    const std::size_t share = std::max<std::size_t>(alive / by.threads(), 16);
    pool_type pool(by, {.name = "overflow",
                        .capacity = 2 * share * by.threads(),
                        .reuse_delay = 16,
                        .removal_queue_size = 2});
    std::vector<std::vector<typename pool_type::handle_type>> held(by.threads());
    for (std::size_t frame = 0; by.more(part); ++frame) {
        by.together([&](std::size_t thread) {
            auto& mine = pool.by(thread);
            auto& random = by.random(thread);
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

void run_bursts(conductor& by, double part, std::size_t burst) {
    watched_pool<> pool(by, {.name = "bursts", .capacity = burst, .reuse_delay = 0});
    std::vector<watched_pool<>::handle_type> all(burst);
    for (std::size_t frame = 0; by.more(part); ++frame) {
        by.together([&](std::size_t thread) {
            for (std::size_t i = thread; i < burst; i += by.threads()) {
                all[i] = pool.by(thread).create();
            }
        });
        by.together([&](std::size_t thread) {
            if (thread == frame % by.threads()) {
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

void run_overflow(conductor& by) {
    run_with_tiny_queues<default_policy>(by, 0.3, by.options().alive);
    run_with_tiny_queues<tiny_policy<1>>(by, 0.6, std::min<std::size_t>(by.options().alive, 1000));
    run_bursts(by, 1, 50 * by.options().alive);
    by.tell("sweeps", fmt::to_string(by.result().pool.sweeps));
}

} // namespace handlepool::stress

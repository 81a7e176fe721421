// SPDX-License-Identifier: MIT

// Emplace, erase and contains never stop while compaction runs back to back; guards come and go.

#include "run/scenarios.hpp"
#include "run/shared_handles.hpp"
#include "watched/watched_pool.hpp"

#include <support/steps/tiny_policy.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <random>
#include <vector>

namespace handlepool::stress {

namespace {

template <class Pool>
void use(Pool& pool, std::size_t thread, shared_handles<typename Pool::handle_type>& shared,
         std::mt19937_64& random, std::size_t steps) {
    auto& mine = pool.by(thread);
    // Where objects never move, one that nobody erases may be looked at while compactions run, without a
    // guard.
    typename Pool::handle_type own;
    if (is_stable<typename Pool::pool_type>) {
        own = mine.try_create();
    }
    for (std::size_t i = 0; i < steps; ++i) {
        const std::uint64_t choice = random();
        const std::size_t seat = (choice >> 8) % shared.size();
        const auto handle = shared.get(seat);
        switch (choice % 8) {
        case 0:
        case 1:
            // The winner fills the place; an empty one is filled by whoever comes first.
            if (!handle || mine.erase(handle)) {
                if (const auto created = mine.try_create()) {
                    shared.put(seat, created);
                }
            }
            break;
        case 2:
            if (i % 16 == 0) {
                const auto guard = pool.get().access();
                for (std::size_t other = 0; other < 8; ++other) {
                    mine.find(shared.get((seat + other) % shared.size()));
                }
                const auto nested = pool.get().access();
                mine.find(handle);
            }
            break;
        case 3:
            if (own) {
                mine.find(own);
                break;
            }
            [[fallthrough]];
        default:
            mine.contains(handle);
        }
    }
    if (own) {
        mine.erase_living(own);
    }
}

template <class Placement, class Policy>
void run_until(test_run& run, double part, std::size_t alive) {
    watched_pool<Placement, Policy> pool(
        run, {.name = "overlap", .capacity = 2 * alive + 4096, .reuse_delay = 64});
    shared_handles<typename watched_pool<Placement, Policy>::handle_type> shared(alive);
    const std::size_t users = std::max<std::size_t>(run.threads() - 1, 1);
    while (run.more(part)) {
        std::atomic<std::size_t> at_work = users;
        run.together([&](std::size_t thread) {
            if (thread == 0) { // compacts, and only that if there are others
                do {
                    if (users == run.threads()) {
                        use(pool, thread, shared, run.random(thread), 100);
                    }
                    pool.compact(pool.by(thread));
                } while (at_work.load() != 0 && users != run.threads() && !run.team().failed());
            } else {
                use(pool, thread, shared, run.random(thread), 10'000);
                --at_work;
            }
        });
        pool.end_frame();
    }
    pool.finish();
}

} // namespace

void run_overlap(test_run& run) {
    with_placement(run, [&run]<class Placement>(Placement) {
        run_until<Placement, default_policy>(run, 0.4, run.alive());
        run_until<Placement, support::tiny_policy<2>>(run, 0.7, run.alive(1000));
        run_until<Placement, support::tiny_policy<1>>(run, 1, 16);
    });
}

} // namespace handlepool::stress

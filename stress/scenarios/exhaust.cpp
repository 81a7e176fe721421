// SPDX-License-Identifier: MIT

// Pools are filled to the brim by all threads at once, emptied, and filled again: they are full only when
// they are, and then they say so.

#include "run/scenarios.hpp"
#include "watched/watched_pool.hpp"

#include <handlepool/error.hpp>

#include <fmt/format.h>
#include <support/steps/tiny_policy.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace handlepool::stress {

namespace {

template <class Pool>
void expect_clear_error(test_run& run, Pool& pool) {
    try {
        pool.by_main().create();
    } catch (const pool_exhausted& error) {
        const std::string text = error.what();
        const std::string capacity = fmt::to_string(pool.get().capacity());
        if (text.find("'exhaust'") == std::string::npos || text.find(capacity) == std::string::npos) {
            run.violate(fmt::format("the error of a full pool names not both pool and capacity: {}", text));
        }
        return;
    }
    run.violate("a pool that was full had room at once");
}

template <class Placement, class Policy>
void fill_and_empty(test_run& run, std::size_t capacity, std::size_t times) {
    watched_pool<Placement, Policy> pool(
        run, {.name = "exhaust", .capacity = capacity, .reuse_delay = capacity / 4});
    std::vector<std::vector<typename watched_pool<Placement, Policy>::handle_type>> held(run.threads());
    for (std::size_t time = 0; time < times && (time == 0 || run.more()); ++time) {
        run.together([&](std::size_t thread) {
            while (const auto handle = pool.by(thread).try_create()) {
                held[thread].push_back(handle);
            }
        });
        if (pool.alive() < capacity) {
            run.violate(
                fmt::format("a pool with a capacity of {} was full with {} objects", capacity, pool.alive()));
        }
        // A thread may be refused while another holds what it claimed and then gives it up: the main thread
        // takes what is left, some of the times alone.
        const auto fill = [&] {
            while (const auto handle = pool.by_main().try_create()) {
                held[0].push_back(handle);
            }
        };
        if (time % 3 == 1) {
            pool.by_main().alone(fill);
        } else {
            fill();
        }
        expect_clear_error(run, pool);

        // Every thread erases another's. Half of the times a part of them stays.
        const bool all = time % 2 == 0;
        run.together([&](std::size_t thread) {
            auto& others = held[(thread + 1) % held.size()];
            const std::size_t kept = all ? 0 : others.size() / 3;
            while (others.size() > kept) {
                pool.by(thread).erase_living(others.back());
                others.pop_back();
            }
        });
        pool.end_frame();
    }
    pool.finish();
}

} // namespace

void run_exhaust(test_run& run) {
    with_placement(run, [&run]<class Placement>(Placement) {
        const std::size_t large = run.alive();
        while (run.more()) {
            fill_and_empty<Placement, default_policy>(run, large, 4);
            for (const std::size_t capacity : {1U, 2U, 3U, 7U, 64U, 1000U}) {
                if (!run.more()) {
                    break;
                }
                fill_and_empty<Placement, support::tiny_policy<1>>(run, capacity, 64);
                fill_and_empty<Placement, support::tiny_policy<2>>(run, capacity, 64);
                fill_and_empty<Placement, default_policy>(run, capacity, 64);
            }
        }
    });
}

} // namespace handlepool::stress

// SPDX-License-Identifier: MIT

// Narrow generations: slots retire one after the other, until the pool says that it is used up. All that were
// ever given out stay dead.

#include "run/scenarios.hpp"
#include "watched/watched_pool.hpp"

#include <handlepool/error.hpp>

#include <fmt/format.h>
#include <support/steps/tiny_policy.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace handlepool::stress {

namespace {

using narrow_layout = handle_layout<32, 5, 27>; // a slot has 15 lives
constexpr std::uint64_t lives = (narrow_layout::last_generation + 1) / 2;

template <class Placement, class Policy>
std::uint64_t use_up(test_run& run) {
    constexpr std::size_t slot_limit = 600;
    constexpr std::size_t capacity = 128;
    constexpr std::size_t reuse_delay = 8;
    using pool_type = watched_pool<Placement, Policy, tracked_object, narrow_layout>;
    using handle_type = typename pool_type::handle_type;
    pool_type pool(run, {.name = "retire",
                         .capacity = capacity,
                         .reuse_delay = reuse_delay,
                         .slot_limit = slot_limit,
                         .record_lives = 2});
    std::vector<std::vector<handle_type>> given(run.threads());
    std::atomic<bool> used_up = false;
    const auto use = [&used_up](auto& by, std::vector<handle_type>& all) {
        std::vector<handle_type> made;
        try {
            for (int i = 0; i < 40; ++i) {
                made.push_back(by.create());
            }
        } catch (const pool_used_up&) {
            used_up = true;
        } catch (const pool_exhausted&) { // others hold the last slots
        }
        for (const handle_type handle : made) {
            by.erase_living(handle);
        }
        all.insert(all.end(), made.begin(), made.end());
    };
    for (std::size_t frame = 0; !used_up; ++frame) {
        run.together([&](std::size_t thread) { use(pool.by(thread), given[thread]); });
        pool.end_frame();
        if (frame % 4 == 3) {
            pool.by_main().alone([&] { use(pool.by_main(), given.front()); });
        }
        if (frame > 100 * slot_limit) {
            run.violate("a pool was never used up");
            break;
        }
    }
    run.together([&](std::size_t thread) {
        for (const handle_type handle : given[(thread + 1) % given.size()]) {
            pool.by(thread).try_stale(handle);
        }
    });
    const std::uint64_t created = pool.get().stats().created;
    if (created > slot_limit * lives) {
        run.violate(fmt::format("{} slots of {} lives had {} objects", slot_limit, lives, created));
    }
    if (used_up && created < (slot_limit - capacity - reuse_delay) * lives) {
        run.violate(fmt::format("a pool of {} slots was used up after {} objects", slot_limit, created));
    }
    pool.finish();
    return created;
}

} // namespace

void run_retire(test_run& run) {
    with_placement(run, [&run]<class Placement>(Placement) {
        std::uint64_t pools = 0;
        std::uint64_t created = 0;
        while (run.more()) {
            created += pools % 2 == 0 ? use_up<Placement, support::tiny_policy<1>>(run)
                                      : use_up<Placement, default_policy>(run);
            ++pools;
        }
        run.add_fact("pools used up", pools);
        run.add_fact("objects of each, at most 9,000",
                     fmt::format("{:.0f}", static_cast<double>(created) /
                                               static_cast<double>(std::max<std::uint64_t>(pools, 1))));
    });
}

} // namespace handlepool::stress

// Threads are born and die by the thousand, more at a time than there are processors; they leave objects
// behind, and slots that they had claimed.

#include "scenarios/all.hpp"
#include "watched_pool.hpp"

#include <fmt/format.h>
#include <support/thread_team.hpp>
#include <support/tiny_policy.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace handlepool::stress {

namespace {

constexpr std::size_t at_once = 4; // mortals that a thread of the team has at a time

template <class Policy>
std::uint64_t run_until(test_run& run, double part) {
    using pool_type = watched_pool<tracked_object, default_layout, Policy>;
    using handle_type = typename pool_type::handle_type;
    const std::size_t mortals = run.threads() * at_once;
    pool_type pool(run, {.name = "threads", .capacity = 100 * mortals, .reuse_delay = 16}, mortals);
    std::vector<std::vector<handle_type>> legacies(mortals);
    std::atomic<std::uint64_t> born = 0;
    for (std::uint64_t frame = 0; run.more(part); ++frame) {
        run.together([&](std::size_t thread) {
            for (int generation = 0; generation < 8; ++generation) {
                support::thread_team(at_once).run([&](std::size_t each) {
                    const std::size_t mortal = thread * at_once + each;
                    auto& mine = pool.by(mortal);
                    auto& legacy = legacies[mortal];
                    // One object is enough to claim a bundle of slots.
                    const std::size_t objects = 1 + (frame + mortal) % 9;
                    for (std::size_t i = 0; i < objects; ++i) {
                        legacy.push_back(mine.create());
                    }
                    while (legacy.size() > 8) {
                        mine.erase_living(legacy.back());
                        legacy.pop_back();
                    }
                });
                born += at_once;
            }
        });
        std::rotate(legacies.begin(), legacies.begin() + 1, legacies.end());
        pool.end_frame();
    }
    const std::size_t lanes = pool.get().stats().lanes;
    // The team, the main thread, which creates nothing, and all that live at the same time. What one thread
    // gave up as it ended the next may not have got yet.
    const std::size_t most_lanes = 2 * (run.threads() + mortals + 1);
    if (lanes > most_lanes) {
        run.violate(fmt::format("{} threads at a time left {} lanes behind", mortals, lanes));
    }
    pool.finish();
    return born;
}

} // namespace

void run_threads(test_run& run) {
    std::uint64_t born = run_until<default_policy>(run, 0.5);
    born += run_until<support::tiny_policy<2>>(run, 1);
    run.add_fact("threads born", fmt::to_string(born));
}

} // namespace handlepool::stress

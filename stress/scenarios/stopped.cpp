// A thread is stopped for good at each atomic step of each operation in turn. The others must complete their
// work in a bounded number of their own steps.

#include "scenarios/stopped.hpp"

#include "scenarios/all.hpp"
#include "scenarios/stopped_pool.hpp"

#include <support/step_atomics.hpp>
#include <support/tiny_policy.hpp>

#include <array>
#include <cstddef>
#include <memory>
#include <random>

namespace handlepool::stress {

namespace {

std::unique_ptr<stoppable> make_pool(test_run& run, const stopped_setting& setting, std::size_t room,
                                     bool recorded) {
    switch (setting.batch) {
    case 1:
        return make_stoppable<support::tiny_policy<1, support::step_policy>>(run, setting, room, recorded);
    case 2:
        return make_stoppable<support::tiny_policy<2, support::step_policy>>(run, setting, room, recorded);
    default:
        return make_stoppable<support::tiny_policy<4, support::step_policy>>(run, setting, room, recorded);
    }
}

} // namespace

void run_stopped(test_run& run) {
    // Run in any case: both ends of the victim's claims, and all ways to slots.
    constexpr std::array essential{
        stopped_setting{.batch = 2, .from = slots::recycled, .made_before = 0},
        stopped_setting{.batch = 2, .from = slots::fresh, .made_before = 1},
        stopped_setting{.batch = 2, .from = slots::nearly_full, .made_before = 2},
    };
    const auto make = [&run](const stopped_setting& setting, std::size_t room, bool recorded) {
        return make_pool(run, setting, room, recorded);
    };
    stopped_matrix matrix(run);
    for (const stopped_setting& setting : essential) {
        matrix.run(setting, make, true);
    }
    std::mt19937_64& random = run.random(0);
    while (run.more()) {
        matrix.run({.batch = std::size_t{1} << random() % 3,
                    .from = static_cast<slots>(random() % 3),
                    .objects = 4 + random() % 12,
                    .made_before = random() % 4},
                   make, false);
    }
    matrix.tell();
    run.result()
        .latencies = {}; // each access takes a lock here, and threads are stopped: no times to compare
}

} // namespace handlepool::stress

// A thread is stopped for good at each atomic step of each operation in turn. The others must complete their
// work in a bounded number of their own steps.

#include "scenarios/stopped.hpp"

#include "scenarios/all.hpp"
#include "scenarios/stopped_pool.hpp"
#include "step_atomics.hpp"
#include "tiny_policy.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <random>

namespace handlepool::stress {

namespace {

std::unique_ptr<stoppable> make_pool(conductor& by, const stopped_setting& setting, std::size_t room,
                                     bool recorded) {
    switch (setting.batch) {
    case 1:
        return make_stoppable<tiny_policy<1, step_policy>>(by, setting, room, recorded);
    case 2:
        return make_stoppable<tiny_policy<2, step_policy>>(by, setting, room, recorded);
    default:
        return make_stoppable<tiny_policy<4, step_policy>>(by, setting, room, recorded);
    }
}

} // namespace

void run_stopped(conductor& by) {
    // Run in any case: both ends of the victim's claims, and all ways to slots.
    constexpr std::array essential{
        stopped_setting{.batch = 2, .from = slots::recycled, .made_before = 0},
        stopped_setting{.batch = 2, .from = slots::fresh, .made_before = 1},
        stopped_setting{.batch = 2, .from = slots::nearly_full, .made_before = 2},
    };
    const auto make = [&by](const stopped_setting& setting, std::size_t room, bool recorded) {
        return make_pool(by, setting, room, recorded);
    };
    stopped_matrix matrix(by);
    for (const stopped_setting& setting : essential) {
        matrix.run(setting, make, true);
    }
    std::mt19937_64& random = by.random(0);
    while (by.more()) {
        matrix.run({.batch = std::size_t{1} << random() % 3,
                    .from = static_cast<slots>(random() % 3),
                    .objects = 4 + random() % 12,
                    .made_before = random() % 4},
                   make, false);
    }
    matrix.tell();
    by.result().latencies = {}; // each access takes a lock here, and threads are stopped: no times to compare
}

} // namespace handlepool::stress

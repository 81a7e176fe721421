// SPDX-License-Identifier: MIT

// Handles travel between threads through a concurrent queue, and are used and erased elsewhere.

#include "run/parcel_queue.hpp"
#include "run/scenarios.hpp"
#include "watched/watched_pool.hpp"

#include <support/steps/tiny_policy.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace handlepool::stress {

namespace {

template <class Placement, class Policy>
void run_until(test_run& run, double part, std::size_t alive) {
    // What a thread has to know of an object that another made.
    struct parcel {
        typename watched_pool<Placement, Policy>::handle_type object;
        std::uint64_t number;
        std::size_t journeys;
    };
    const std::size_t steps = 4096;
    watched_pool<Placement, Policy> pool(
        run, {.name = "hand-off", .capacity = alive + steps * run.threads(), .reuse_delay = 64});
    parcel_queue<parcel> under_way;
    pool.run_frames(part, [&](std::size_t thread) {
        auto& mine = pool.by(thread);
        for (std::size_t i = 0; i < steps; ++i) {
            parcel one{};
            if (under_way.unsafe_size() < alive) {
                one.number = mine.next_number();
                one.object = mine.create_numbered(one.number);
                under_way.push(one);
            } else if (under_way.try_pop(one)) {
                mine.look_up(one.object, one.number);
                if (++one.journeys == 3) {
                    mine.erase_living(one.object);
                } else {
                    under_way.push(one);
                }
            }
        }
    });
}

} // namespace

void run_hand_off(test_run& run) {
    with_placement(run, [&run]<class Placement>(Placement) {
        run_until<Placement, default_policy>(run, 0.6, run.alive());
        run_until<Placement, support::tiny_policy<2>>(run, 1, run.alive(50));
    });
}

} // namespace handlepool::stress

// Handles travel between threads through a concurrent queue, and are used and erased elsewhere.

#include "scenarios/all.hpp"
#include "tiny_policy.hpp"
#include "watched_pool.hpp"

#include <tbb/concurrent_queue.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace handlepool::stress {

namespace {

template <class Policy>
void run_until(conductor& by, double part, std::size_t alive) {
    using pool_type = watched_pool<observed, default_layout, Policy>;
    using handle_type = typename pool_type::handle_type;
    // What a thread has to know of an object that another made.
    struct parcel {
        handle_type handle;
        std::uint64_t number;
        std::size_t journeys;
    };
    const std::size_t steps = 4096;
    pool_type pool(by, {.name = "hand-off", .capacity = alive + steps * by.threads(), .reuse_delay = 64});
    tbb::concurrent_queue<parcel> under_way;
    while (by.more(part)) {
        by.together([&](std::size_t thread) {
            auto& mine = pool.by(thread);
            for (std::size_t i = 0; i < steps; ++i) {
                parcel one{};
                if (under_way.unsafe_size() < alive) {
                    one.number = mine.next_number();
                    one.handle = mine.create_numbered(one.number);
                    under_way.push(one);
                } else if (under_way.try_pop(one)) {
                    mine.look_up(one.handle, one.number);
                    if (++one.journeys == 3) {
                        mine.erase_living(one.handle);
                    } else {
                        under_way.push(one);
                    }
                }
            }
        });
        pool.end_frame();
    }
    pool.finish();
}

} // namespace

void run_hand_off(conductor& by) {
    run_until<default_policy>(by, 0.6, by.options().alive);
    run_until<tiny_policy<2>>(by, 1, std::min<std::size_t>(by.options().alive, 50));
}

} // namespace handlepool::stress

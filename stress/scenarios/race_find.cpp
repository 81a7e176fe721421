// Threads look up and read what others erase: they find the object, whole, or nothing.

#include "scenarios/all.hpp"
#include "scenarios/board.hpp"
#include "tiny_policy.hpp"
#include "watched_pool.hpp"

#include <algorithm>
#include <cstddef>
#include <random>
#include <vector>

namespace handlepool::stress {

namespace {

template <class Policy>
void run_until(conductor& by, double part, std::size_t alive) {
    using pool_type = watched_pool<observed, default_layout, Policy>;
    using handle_type = typename pool_type::handle_type;
    const std::size_t steps = std::clamp<std::size_t>(alive / by.threads(), 1024, 4096);
    pool_type pool(by, {.name = "race-find", .capacity = alive + steps * by.threads(), .reuse_delay = 16});
    board<handle_type> shared(alive);
    for (std::size_t seat = 0; seat < alive; ++seat) {
        shared.put(seat, pool.by_conductor().create());
    }
    while (by.more(part)) {
        by.together([&](std::size_t thread) {
            auto& mine = pool.by(thread);
            auto& random = by.random(thread);
            for (std::size_t i = 0; i < steps; ++i) {
                const std::uint64_t choice = random();
                const std::size_t seat = (choice >> 8) % alive;
                const handle_type handle = shared.get(seat);
                if (choice % 8 == 0) {
                    if (mine.erase(handle)) {
                        shared.put(seat, mine.create());
                    }
                } else if (choice % 8 == 1) {
                    mine.contains(handle);
                } else {
                    mine.find(handle);
                }
            }
        });
        pool.end_frame();
    }
    pool.finish();
}

} // namespace

void run_race_find(conductor& by) {
    run_until<default_policy>(by, 0.4, by.options().alive);
    run_until<default_policy>(by, 0.7, 8); // all meet on a few
    run_until<tiny_policy<2>>(by, 1, 64);
}

} // namespace handlepool::stress

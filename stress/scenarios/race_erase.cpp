// All threads erase the same handles at the same moment: exactly one wins each, as the histories show.

#include "scenarios/all.hpp"
#include "tiny_policy.hpp"
#include "watched_pool.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace handlepool::stress {

namespace {

// Threads that go through the same handles meet here before each bundle, so that none runs ahead.
class starting_line {
public:
    explicit starting_line(std::size_t threads) : threads_(threads) {}

    void wait(const crew& at_work) {
        // Relaxed would do: what follows is to be at the same time, not in order.
        const std::size_t mine = arrived_.fetch_add(1);
        const std::size_t all = (mine / threads_ + 1) * threads_;
        for (int spins = 0; arrived_.load() < all && !at_work.failed(); ++spins) {
            if (spins > 1000) { // more threads than processors
                std::this_thread::yield();
            }
        }
    }

private:
    std::size_t threads_;
    std::atomic<std::size_t> arrived_{0};
};

template <class Policy>
void run_until(conductor& by, double part, std::size_t victims) {
    constexpr std::size_t bundle = 16;
    using pool_type = watched_pool<observed, default_layout, Policy>;
    pool_type pool(by, {.name = "race-erase", .capacity = 2 * victims, .reuse_delay = 16});
    starting_line line(by.threads());
    std::vector<typename pool_type::handle_type> handles(victims);
    while (by.more(part)) {
        by.together([&](std::size_t thread) {
            for (std::size_t i = thread; i < victims; i += by.threads()) {
                handles[i] = pool.by(thread).create();
            }
        });
        by.together([&](std::size_t thread) {
            for (std::size_t i = 0; i < victims; ++i) {
                if (i % bundle == 0) {
                    line.wait(by.threads_at_work());
                }
                pool.by(thread).erase(handles[i]);
                pool.by(thread).contains(handles[i]);
            }
        });
        by.together([&](std::size_t thread) {
            for (std::size_t i = 0; i < victims; i += 64) {
                pool.by(thread).try_stale(handles[i]);
            }
        });
        if (pool.alive() != 0) {
            by.violate(fmt::format("race-erase: {} of {} objects that all threads erased are alive",
                                   pool.alive(), victims));
        }
        pool.end_frame();
    }
    pool.finish();
}

} // namespace

void run_race_erase(conductor& by) {
    run_until<default_policy>(by, 0.5, std::min<std::size_t>(by.options().alive, 4096));
    run_until<tiny_policy<1>>(by, 1, std::min<std::size_t>(by.options().alive, 512));
}

} // namespace handlepool::stress

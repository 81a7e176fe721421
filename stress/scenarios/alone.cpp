// SPDX-License-Identifier: MIT

// Threads use the pool together, and then each has it alone in turn: handles of both kinds of work stay
// right.

#include "run/scenarios.hpp"
#include "watched/watched_pool.hpp"

#include <support/steps/tiny_policy.hpp>

#include <cstddef>
#include <iterator>
#include <random>
#include <vector>

namespace handlepool::stress {

namespace {

constexpr std::size_t objects_per_thread = 300;

template <class Pool>
class owners {
public:
    using handle_type = typename Pool::handle_type;

    owners(test_run& run, Pool& pool) : run_(run), pool_(pool), living_(run.threads()) {}

    // Creates and erases, together with the other threads or alone.
    void work(std::size_t thread, std::size_t steps) {
        std::vector<handle_type>& mine = living_[thread];
        auto& by = pool_.by(thread);
        std::mt19937_64& random = run_.random(thread);
        for (std::size_t i = 0; i != steps; ++i) {
            if (mine.size() < objects_per_thread / 2 || random() % 2 == 0) {
                if (mine.size() < objects_per_thread) {
                    mine.push_back(by.create());
                }
            } else {
                by.erase_any_of(mine, random);
            }
            if (!mine.empty()) {
                by.contains(mine[random() % mine.size()]);
            }
        }
        if (random() % 8 == 0 && mine.size() + 20 <= objects_per_thread) {
            by.create_several(20, mine);
        }
    }
    // What the others have created is found alone, and may be erased.
    void visit_others(std::size_t thread) {
        auto& by = pool_.by(thread);
        std::mt19937_64& random = run_.random(thread);
        for (std::vector<handle_type>& others : living_) {
            for (const handle_type each : others) {
                by.find(each);
            }
            if (!others.empty() && random() % 4 == 0) {
                by.erase_any_of(others, random);
            }
        }
    }
    // Everything, with what no thread has erased.
    void erase_all() {
        for (std::vector<handle_type>& mine : living_) {
            while (!mine.empty()) {
                pool_.by_main().erase_any_of(mine, run_.random(0));
            }
        }
    }

private:
    test_run& run_;
    Pool& pool_;
    std::vector<std::vector<handle_type>> living_; // of each thread
};

template <class Placement, class Policy>
void run_until(test_run& run, double part) {
    using pool_type = watched_pool<Placement, Policy>;
    // Erased objects need their places until the frame ends.
    const std::size_t capacity = run.threads() * 2 * objects_per_thread;
    pool_type pool(run, {.name = "alone", .capacity = capacity, .reuse_delay = 16, .record_lives = 2});
    owners<pool_type> all(run, pool);
    std::size_t next = 0;
    while (run.more(part)) {
        run.together([&](std::size_t thread) { all.work(thread, 200); });
        // One thread after the other has them all alone.
        const std::size_t chosen = next++ % run.threads();
        run.together([&](std::size_t thread) {
            if (thread == chosen) {
                pool.by(thread).alone([&] {
                    all.work(thread, 200);
                    all.visit_others(thread);
                });
            }
        });
        pool.end_frame();
    }
    pool.by_main().alone([&] { all.erase_all(); });
    pool.end_frame();
    pool.finish();
}

} // namespace

void run_alone(test_run& run) {
    with_placement(run, [&run]<class Placement>(Placement) {
        run_until<Placement, default_policy>(run, 0.5);
        run_until<Placement, support::tiny_policy<1>>(run, 0.8);
        run_until<Placement, support::tiny_policy<2>>(run, 1);
    });
}

} // namespace handlepool::stress

// SPDX-License-Identifier: MIT

// Holders keep handles for many frames after the erasure and look them up from every thread, and so they do
// with forged neighbours of real handles.

#include "run/scenarios.hpp"
#include "run/shared_handles.hpp"
#include "watched/watched_pool.hpp"

#include <support/steps/tiny_policy.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <random>
#include <vector>

namespace handlepool::stress {

namespace {

template <class Client>
class holder {
public:
    using handle_type = typename Client::handle_type;

    holder(Client& mine, shared_handles<handle_type>& dead, std::size_t alive, std::mt19937_64& random)
        : mine_(mine), dead_(dead), most_alive_(alive), random_(random) {}

    void run_frame(std::size_t steps) {
        for (std::size_t i = 0; i < steps; ++i) {
            living_.push_back(mine_.create());
            if (living_.size() > most_alive_) {
                const handle_type erased = mine_.erase_any_of(living_, random_);
                dead_.put(random_() % dead_.size(), erased);
            }
            for (int other = 0; other < 4; ++other) {
                if (const handle_type stale = dead_.get(random_() % dead_.size())) {
                    mine_.try_stale(stale);
                }
            }
            forge(living_[random_() % living_.size()]);
        }
    }

private:
    // The same slot in its next lives and in the one before, in other pools, and one flipped bit.
    void forge(handle_type real) {
        using layout = typename handle_type::layout;
        using value_type = typename handle_type::value_type;
        constexpr auto generation = static_cast<value_type>(value_type{1} << layout::index_bits);
        constexpr auto pool_id = static_cast<value_type>(generation << layout::generation_bits);
        const value_type value = real.value();
        for (const value_type forged : {value + generation, value + 2 * generation, value - generation,
                                        value - 2 * generation, value + pool_id, value - pool_id,
                                        value ^ (value_type{1} << (random_() % (8 * sizeof(value_type))))}) {
            mine_.try_forged(handle_type::from_value(forged));
        }
    }

    Client& mine_;
    shared_handles<handle_type>& dead_;
    std::size_t most_alive_;
    std::mt19937_64& random_;
    std::vector<handle_type> living_;
};

template <class Placement, class Policy>
void run_until(test_run& run, double part, std::size_t alive, std::size_t reuse_delay) {
    const std::size_t share = std::max<std::size_t>(alive / run.threads(), 1);
    const std::size_t steps = std::clamp<std::size_t>(share / 4, 8, 4000);
    watched_pool<Placement, Policy> pool(run, {.name = "stale",
                                               .capacity = (share + 1 + steps) * run.threads(),
                                               .reuse_delay = reuse_delay,
                                               .record_lives = 2});
    shared_handles<typename watched_pool<Placement, Policy>::handle_type> dead(
        std::clamp<std::size_t>(4 * alive, 64, 1 << 14));
    std::vector<holder<typename watched_pool<Placement, Policy>::client_type>> holders;
    for (std::size_t thread = 0; thread < run.threads(); ++thread) {
        holders.emplace_back(pool.by(thread), dead, share, run.random(thread));
    }
    pool.run_frames(part, [&](std::size_t thread) { holders[thread].run_frame(steps); });
}

} // namespace

void run_stale(test_run& run) {
    with_placement(run, [&run]<class Placement>(Placement) {
        run_until<Placement, default_policy>(run, 0.5, run.alive(), pool_options::automatic);
        run_until<Placement, support::tiny_policy<1>>(run, 0.8, run.alive(100),
                                                      0); // slots live fast
        run_until<Placement, support::tiny_policy<2>>(run, 1, run.alive(), 16);
    });
}

} // namespace handlepool::stress

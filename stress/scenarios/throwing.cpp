// SPDX-License-Identifier: MIT

// Constructors throw at random: nothing of it may be seen, and nothing may be lost.

#include "run/scenarios.hpp"
#include "watched/tracked_object.hpp"
#include "watched/watched_pool.hpp"

#include <fmt/format.h>
#include <support/steps/tiny_policy.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <random>
#include <vector>

namespace handlepool::stress {

namespace {

struct failure : std::exception {
    const char* what() const noexcept override { return "a constructor fails, as it should here"; }
};

// Fails on demand, after a part of it was made that must be destroyed. The counter counts down to
// the object that fails.
class fragile : public tracked_object {
public:
    fragile(lifetime_counts& where, std::uint64_t number, std::size_t* until_failure)
        : tracked_object(where, number) {
        if (until_failure != nullptr && (*until_failure)-- == 0) {
            throw failure();
        }
    }
};

template <class Client>
class worker {
public:
    worker(Client& mine, std::size_t alive, std::mt19937_64& random)
        : mine_(mine), alive_(alive), random_(random) {}

    void run_frame(std::size_t steps) {
        for (std::size_t i = 0; i < steps; ++i) {
            if (random_() % 16 == 0) {
                create_several();
            } else {
                create_one();
            }
            while (held_.size() > alive_) {
                mine_.erase_any_of(held_, random_);
            }
        }
    }

    std::uint64_t failures() const noexcept { return failures_; }

private:
    void create_one() {
        std::size_t until_failure = random_() % 3; // in two of three cases it lives
        try {
            held_.push_back(mine_.create(&until_failure));
        } catch (const failure&) {
            ++failures_;
            mine_.add_undone(1);
        }
    }

    // All or nothing.
    void create_several() {
        const std::size_t count = 2 + random_() % 8;
        const std::size_t failing = random_() % 16; // often after the last
        std::size_t until_failure = failing;
        std::vector<typename Client::handle_type> made;
        try {
            mine_.create_several(count, made, &until_failure);
        } catch (const failure&) {
            ++failures_;
            mine_.add_undone(failing + 1);
            if (!made.empty()) {
                mine_.counts().violate(fmt::format("emplace_n wrote {} handles and failed", made.size()));
            }
            return;
        }
        held_.insert(held_.end(), made.begin(), made.end());
    }

    Client& mine_;
    std::size_t alive_;
    std::mt19937_64& random_;
    std::vector<typename Client::handle_type> held_;
    std::uint64_t failures_ = 0;
};

template <class Placement, class Policy>
std::uint64_t run_until(test_run& run, double part, std::size_t alive) {
    const std::size_t share = std::max<std::size_t>(alive / run.threads(), 10);
    const std::size_t steps = std::clamp<std::size_t>(share / 4, 8, 2000);
    watched_pool<Placement, Policy, fragile> pool(
        run, {.name = "throwing", .capacity = run.threads() * (share + 10 * steps), .reuse_delay = 16});
    std::vector<worker<typename watched_pool<Placement, Policy, fragile>::client_type>> workers;
    for (std::size_t thread = 0; thread < run.threads(); ++thread) {
        workers.emplace_back(pool.by(thread), share, run.random(thread));
    }
    pool.run_frames(part, [&](std::size_t thread) { workers[thread].run_frame(steps); });
    std::uint64_t failures = 0;
    for (const auto& each : workers) {
        failures += each.failures();
    }
    return failures;
}

} // namespace

void run_throwing(test_run& run) {
    with_placement(run, [&run]<class Placement>(Placement) {
        std::uint64_t failures = run_until<Placement, default_policy>(run, 0.5, run.alive());
        failures += run_until<Placement, support::tiny_policy<1>>(run, 0.8, 100);
        failures += run_until<Placement, support::tiny_policy<2>>(run, 1, 1000);
        run.add_fact("constructors that threw", failures);
    });
}

} // namespace handlepool::stress

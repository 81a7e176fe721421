// SPDX-License-Identifier: MIT

// Constructors create objects of the same pool, destructors erase them.

#include "run/scenarios.hpp"
#include "watched/tracked_object.hpp"
#include "watched/watched_pool.hpp"

#include <support/steps/tiny_policy.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <random>
#include <utility>
#include <vector>

namespace handlepool::stress {

namespace {

// How an object comes to its child in the pool, and gets rid of it.
class descendant_source {
public:
    virtual ~descendant_source() = default;

    // Creates an object with this number of descendants, and returns its handle.
    virtual std::uint64_t create(std::size_t descendants) = 0;
    virtual void erase(std::uint64_t child) = 0;
};

// An object that creates its descendants, one inside the other, and takes them with it.
class parent : public tracked_object {
public:
    parent(lifetime_counts& where, std::uint64_t number, descendant_source& here, descendant_source& at_death,
           std::size_t descendants)
        : tracked_object(where, number),
          at_death_(&at_death),
          child_(descendants == 0 ? 0 : here.create(descendants - 1)) {}
    parent(parent&& other) noexcept
        : tracked_object(std::move(other)),
          at_death_(other.at_death_),
          child_(std::exchange(other.child_, 0)) {}
    ~parent() {
        if (child_ != 0) {
            at_death_->erase(child_);
        }
    }

private:
    descendant_source* at_death_;
    std::uint64_t child_;
};

template <class Pool>
class client_source final : public descendant_source {
public:
    client_source(typename Pool::client_type& mine, descendant_source* at_death)
        : mine_(mine), at_death_(at_death) {}

    std::uint64_t create(std::size_t descendants) override {
        descendant_source& here = *this;
        descendant_source& at_death = at_death_ == nullptr ? here : *at_death_;
        return mine_.create(here, at_death, descendants).value();
    }
    void erase(std::uint64_t child) override {
        const std::scoped_lock lock(mutex_); // destructors run on many threads
        mine_.erase_living(Pool::handle_type::from_value(child));
    }

private:
    typename Pool::client_type& mine_;
    descendant_source* at_death_; // null: this one
    std::mutex mutex_;
};

template <class Placement, class Policy>
void run_until(test_run& run, double part) {
    using pool_type = watched_pool<Placement, Policy, parent>;
    using handle_type = typename pool_type::handle_type;
    constexpr std::size_t families = 100;
    constexpr std::size_t most_descendants = 5;
    pool_type pool(run, {.name = "reentrant",
                         .capacity = run.threads() * 3 * families * (most_descendants + 1),
                         .reuse_delay = 16});
    // Objects die in compactions, which the main thread runs.
    client_source<pool_type> end(pool.by_main(), nullptr);
    std::deque<client_source<pool_type>> sources;
    for (std::size_t thread = 0; thread < run.threads(); ++thread) {
        sources.emplace_back(pool.by(thread), &end);
    }
    std::vector<std::vector<handle_type>> parents(run.threads());
    const auto erase_parents = [&](std::size_t thread, std::size_t kept) {
        while (parents[thread].size() > kept) {
            pool.by(thread).erase_any_of(parents[thread], run.random(thread));
        }
    };
    while (run.more(part)) {
        run.together([&](std::size_t thread) {
            for (std::size_t i = 0; i < families; ++i) {
                const std::size_t descendants = run.random(thread)() % (most_descendants + 1);
                parents[thread].push_back(handle_type::from_value(sources[thread].create(descendants)));
            }
            erase_parents(thread, families);
        });
        // An object erases its child as it dies; the child dies in the next compaction.
        pool.compact(pool.by_main());
    }
    run.together([&](std::size_t thread) { erase_parents(thread, 0); });
    while (pool.get().stats().waiting_removals != 0) {
        pool.compact(pool.by_main());
    }
    if (pool.alive() != 0) {
        run.violate(fmt::format("reentrant: {} descendants outlived their parents", pool.alive()));
    }
    pool.finish();
}

} // namespace

void run_reentrant(test_run& run) {
    with_placement(run, [&run]<class Placement>(Placement) {
        run_until<Placement, default_policy>(run, 0.5);
        run_until<Placement, support::tiny_policy<1>>(run, 0.8);
        run_until<Placement, support::tiny_policy<2>>(run, 1);
    });
}

} // namespace handlepool::stress

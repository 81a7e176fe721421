// SPDX-License-Identifier: MIT

// A thread is stopped for good at each atomic step of each operation in turn. The others must complete their
// work in a bounded number of their own steps.

#include "scenarios/stopped.hpp"

#include "run/scenarios.hpp"
#include "watched/placements.hpp"
#include "watched/tracked_object.hpp"
#include "watched/watched_pool.hpp"

#include <handlepool/pool.hpp>

#include <fmt/format.h>
#include <support/steps/step_atomics.hpp>
#include <support/steps/tiny_policy.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <random>
#include <utility>
#include <vector>

namespace handlepool::stress {

namespace {

// An object whose constructor has steps, if it was made by one who is to be stopped in it: before anything of
// it stands, and when all does and nobody has its handle.
class halting : public tracked_object {
public:
    halting(lifetime_counts& where, std::uint64_t number, bool halts) noexcept
        : tracked_object(step(where, halts), number) {
        step(where, halts);
    }

private:
    static lifetime_counts& step(lifetime_counts& where, bool halts) noexcept {
        if (halts) {
            support::stepper::step();
        }
        return where;
    }
};

// For operations that the histories know nothing of. Looks like a watched_pool.
template <class Placement, class Policy>
class unwatched_pool {
public:
    using pool_type = pool_with<Placement, halting, default_layout, Policy>;
    using handle_type = typename pool_type::handle_type;

    unwatched_pool(test_run& run, const pool_options& options, std::size_t /*threads*/)
        : run_(run), pool_(options) {}

    pool_type& get() noexcept { return pool_; }
    unwatched_pool& by(std::size_t /*thread*/) noexcept { return *this; }

    handle_type create(bool halts) {
        return with_arguments<pool_type>(
            [this](auto&&... all) { return pool_.emplace(std::forward<decltype(all)>(all)...); }, objects_,
            next_number_++, halts);
    }
    void create_several(std::size_t count, std::vector<handle_type>& made, bool halts) {
        with_arguments<pool_type>(
            [&](const auto&... all) { pool_.emplace_n(count, std::back_inserter(made), all...); }, objects_,
            next_number_++, halts);
    }
    bool erase(handle_type handle) { return pool_.erase(handle); }
    bool contains(handle_type handle) { return pool_.contains(handle); }
    bool find(handle_type handle) {
        const auto seen = pool_.find(handle);
        const halting* const found = object_in(seen);
        return found != nullptr && is_whole(seen) &&
               (!is_stable<pool_type> || found->place() == found->birthplace());
    }

    void finish() {
        pool_.compact();
        const pool_stats stats = pool_.stats();
        std::size_t visited = 0;
        pool_.for_each([&visited](const auto&...) { ++visited; });
        if (stats.alive != visited || stats.destroyed != objects_.deaths() ||
            stats.created != stats.alive + stats.destroyed || objects_.misuses() != 0) {
            run_.violate(fmt::format("of {} objects {} live, and a loop visits {}; {} were "
                                     "destroyed, with {} destructors and {} misuses",
                                     stats.created, stats.alive, visited, stats.destroyed, objects_.deaths(),
                                     objects_.misuses()));
        }
    }

private:
    test_run& run_;
    lifetime_counts objects_; // outlives the pool
    pool_type pool_;
    std::uint64_t next_number_ = 0; // one thread at a time is at work
};

// A handlepool::pool for the matrix.
template <class Pool>
class stoppable_pool final : public stoppable {
public:
    using handle_type = typename Pool::handle_type;

    stoppable_pool(test_run& run, const pool_options& options) : pool_(run, options, role_names.size()) {}

    std::uint64_t emplace(role by) override { return client_of(by).create(by == role::victim).value(); }
    std::size_t emplace_n(role by, std::size_t count) override {
        std::vector<handle_type> made;
        client_of(by).create_several(count, made, by == role::victim);
        return made.size();
    }
    bool erase(role by, std::uint64_t handle) override { return client_of(by).erase(from(handle)); }
    bool contains(role by, std::uint64_t handle) override { return client_of(by).contains(from(handle)); }
    bool find(role by, std::uint64_t handle) override { return client_of(by).find(from(handle)); }
    bool locate(std::uint64_t handle) override { return pool_.get().find(from(handle)) != nullptr; }
    bool find_guarded(role by, std::uint64_t handle) override {
        const auto guard = pool_.get().access();
        const auto nested = pool_.get().access();
        return find(by, handle);
    }
    std::size_t size() override { return pool_.get().size(); }
    void stats() override { pool_.get().stats(); }
    void clear() override { pool_.get().clear(); }
    // Past the clients: the time that a thread was stopped in it is none of the compaction's.
    void compact() override { pool_.get().compact(); }
    bool try_compact() override { return pool_.get().try_compact().has_value(); }
    void finish() override { pool_.finish(); }

private:
    auto& client_of(role by) { return pool_.by(static_cast<std::size_t>(by)); }
    static handle_type from(std::uint64_t value) { return handle_type::from_value(value); }

    Pool pool_;
};

template <class Placement, class Policy>
std::unique_ptr<stoppable> make_stoppable(test_run& run, const stopped_setting& setting, std::size_t room,
                                          bool recorded) {
    pool_options options{.name = "stopped", .max_threads = 64};
    // A shard claims a whole batch only in a pool that is large enough.
    constexpr std::size_t roomy = 4096;
    static_assert(detail::claim_share(roomy, 8, Policy::claim_divisor) >= Policy::claim_size);
    options.capacity = setting.from == slots::nearly_full ? room : roomy;
    options.reuse_delay = setting.from == slots::fresh ? roomy : 0;
    if (recorded) {
        return std::make_unique<stoppable_pool<watched_pool<Placement, Policy, halting>>>(run, options);
    }
    return std::make_unique<stoppable_pool<unwatched_pool<Placement, Policy>>>(run, options);
}

template <class Placement>
std::unique_ptr<stoppable> make_pool(test_run& run, const stopped_setting& setting, std::size_t room,
                                     bool recorded) {
    switch (setting.batch) {
    case 1:
        return make_stoppable<Placement, support::tiny_policy<1, support::step_policy>>(run, setting, room,
                                                                                        recorded);
    case 2:
        return make_stoppable<Placement, support::tiny_policy<2, support::step_policy>>(run, setting, room,
                                                                                        recorded);
    default:
        return make_stoppable<Placement, support::tiny_policy<4, support::step_policy>>(run, setting, room,
                                                                                        recorded);
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
    stoppable_maker make;
    with_placement(run, [&]<class Placement>(Placement) {
        make = [&run](const stopped_setting& setting, std::size_t room, bool recorded) {
            return make_pool<Placement>(run, setting, room, recorded);
        };
    });
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
    matrix.add_facts();
    run.result()
        .latencies = {}; // each access takes a lock here, and threads are stopped: no times to compare
}

} // namespace handlepool::stress

// SPDX-License-Identifier: MIT
#include "test_run.hpp"

#include "oracle/clock.hpp"
#include "resources.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

namespace handlepool::stress {

namespace {

// Events that wait for a check, of each thread: the memory of one is used again, and stays in the cache.
constexpr std::size_t most_pending = 1 << 14;

time_stamp tolerance_of_this_machine() {
    static const time_stamp tolerance = measure_clock_skew() + clock_resolution;
    return tolerance;
}

std::size_t checked_threads(const run_options& options) {
    require_threads(fmt::format("--threads: '{}'", options.threads), threads_of(options));
    return options.threads;
}

} // namespace

std::size_t threads_of(const run_options& options, std::size_t each) {
    const std::size_t for_compactions = options.service.executor == executor_kind::in_line ? 0 : 1;
    return (each + for_compactions) * options.threads + 1; // the watchdog
}

test_run::test_run(std::string_view label, const run_options& options)
    : options_(options),
      clock_tolerance_(tolerance_of_this_machine()),
      team_(checked_threads(options)),
      executor_(make_executor(options.service, options.threads)),
      progress_(options.place.empty() ? std::string(label) : fmt::format("{}, {}", options.place, label)),
      watchdog_(label),
      start_(clock::now()) {
    result_.command = label;
    result_.threads = options.threads;
    result_.sampled = options.sample;
    add_parameter("executor", name_of(options.service.executor));
    add_parameter("pools", options.service.pools);
    add_parameter("placement", name_of(options.service.placement));
    for (std::size_t thread = 0; thread < options.threads; ++thread) {
        std::seed_seq mixed{options.seed, options.seed >> 32, std::uint64_t{thread}};
        random_.emplace_back(mixed);
    }
}

bool test_run::more(double part) {
    const bool is_new = std::exchange(current_part_, part) != part;
    double done = 0;
    if (options_.seconds != 0) {
        done = seconds() / options_.seconds;
    }
    if (options_.operations != 0) {
        done = std::max(done, static_cast<double>(operations()) / static_cast<double>(options_.operations));
    }
    note(done);
    return is_new || done < part;
}

bool test_run::more_frames(std::size_t frame, std::size_t frames) {
    note(static_cast<double>(frame) / static_cast<double>(std::max<std::size_t>(frames, 1)));
    return frame < frames;
}

void test_run::together(const std::function<void(std::size_t)>& work) {
    watchdog_.show_life();
    if (timeline* const records = options_.service.records) {
        team_.run([&](std::size_t thread) {
            const timeline_span span(*records, result_.command);
            work(thread);
        });
    } else {
        team_.run(work);
    }
    if (sum_of_pools(&watched::pending_events) >= most_pending * threads()) {
        check_histories();
    }
}

void test_run::check_histories() {
    team_.run([this](std::size_t thread) {
        for (watched* const pool : pools_) {
            pool->check_histories(thread);
        }
    });
}

void test_run::add_compaction(std::chrono::nanoseconds duration) {
    result_.compactions.add(std::chrono::duration<double, std::micro>(duration).count());
    ++result_.frames;
}

void test_run::leave(const watched& pool) {
    operations_of_the_past_ += pool.operations();
    std::erase(pools_, &pool);
}

void test_run::stop_clock() {
    if (stopped_) {
        return;
    }
    stopped_ = true;
    note(1);
    result_.seconds = seconds();
    result_.timed_operations = operations();
}

std::uint64_t test_run::sum_of_pools(std::uint64_t (watched::*figure)() const) const {
    return std::transform_reduce(pools_.begin(), pools_.end(), std::uint64_t{0}, std::plus(),
                                 [figure](const watched* pool) { return (pool->*figure)(); });
}

std::uint64_t test_run::operations() const {
    return operations_of_the_past_ + sum_of_pools(&watched::operations);
}

double test_run::seconds() const {
    return std::chrono::duration<double>(clock::now() - start_).count();
}

void test_run::note(double part_done) {
    watchdog_.show_life();
    const std::uint64_t alive = sum_of_pools(&watched::alive);
    const std::uint64_t done = operations();
    result_.alive_peak = std::max<std::size_t>(result_.alive_peak, alive);
    result_.over_time.add({seconds(), done, alive});
    progress_.show(part_done, done);
}

} // namespace handlepool::stress

// SPDX-License-Identifier: MIT
#pragma once

#include "results/report.hpp"
#include "run/executors/frame_executor.hpp"
#include "watchdog.hpp"

#include <fmt/format.h>
#include <support/progress_bar.hpp>
#include <support/threads/thread_team.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace handlepool::stress {

// How long, and how hard.
struct run_options {
    std::size_t threads = 2;
    double seconds = 0;           // 0: as long as there is something to do
    std::uint64_t operations = 0; // 0: as many as there is time for
    std::uint64_t seed = 1;
    std::size_t alive = 20'000; // objects
    std::size_t sample = 1;     // check the histories of one slot in this many
    service_setting service{};
    std::string place{}; // of the run among others, for the progress
};

// Threads that a run has at the same time, if it has `each` for every one of the team.
std::size_t threads_of(const run_options& options, std::size_t each = 1);

// What a run knows of a pool.
class watched {
public:
    virtual ~watched() = default;

    virtual std::uint64_t pending_events() const = 0;
    virtual std::uint64_t operations() const = 0;
    virtual std::uint64_t alive() const = 0;
    // Checks a part of the histories, as a thread of the team.
    virtual void check_histories(std::size_t thread) = 0;
};

// Runs the threads of a scenario, has their histories checked between their parts, and collects what is to be
// reported. Its functions are for the thread that made it, but for those that say otherwise.
class test_run {
public:
    test_run(std::string_view label, const run_options& options);

    test_run(const test_run&) = delete;
    test_run& operator=(const test_run&) = delete;

    const run_options& options() const noexcept { return options_; }
    std::size_t threads() const noexcept { return team_.size(); }
    support::thread_team& team() noexcept { return team_; }
    executor_ref executor() const noexcept { return *executor_; }
    time_stamp clock_tolerance() const noexcept { return clock_tolerance_; }

    // Objects that a scenario keeps alive, where it needs no other number; not more than `most`.
    std::size_t alive(std::size_t most = std::numeric_limits<std::size_t>::max()) const noexcept {
        return std::min(options_.alive, most);
    }

    // The random numbers of a thread of the team, which follow from the seed. For that thread.
    std::mt19937_64& random(std::size_t thread) { return random_[thread]; }

    // Is there time, and are there operations, left, of this part of all that there are? There is for one
    // frame of each part. Shows the progress.
    bool more(double part = 1);
    // The same where the number of frames decides.
    bool more_frames(std::size_t frame, std::size_t frames);

    // Runs `work(thread)` on all threads at once, and returns when all have done their part.
    void together(const std::function<void(std::size_t)>& work);

    // Checks all that was recorded since the last time.
    void check_histories();

    // By one thread at a time, which may be one of the team.
    void add_compaction(std::chrono::nanoseconds duration);

    void join(watched& pool) { pools_.push_back(&pool); }
    void leave(const watched& pool);

    // Something is wrong that no pool and no history has seen.
    void violate(std::string message) { result_.all.violate(std::move(message)); }

    template <class Value>
    void add_fact(std::string name, const Value& value) {
        result_.facts.emplace_back(std::move(name), fmt::to_string(value));
    }
    template <class Value>
    void add_parameter(std::string name, const Value& value) {
        result_.parameters.emplace_back(std::move(name), fmt::to_string(value));
    }

    // The report, which the pools of the run add to.
    report& result() noexcept { return result_; }
    // The timed part is over: what follows are checks. Once is enough.
    void stop_clock();

private:
    using clock = std::chrono::steady_clock;

    std::uint64_t sum_of_pools(std::uint64_t (watched::*figure)() const) const;
    std::uint64_t operations() const;
    double seconds() const;
    void note(double part_done);

    run_options options_;
    time_stamp clock_tolerance_;
    support::thread_team team_;
    std::shared_ptr<const executor_ref> executor_;
    std::vector<std::mt19937_64> random_;
    support::progress_bar progress_;
    watchdog watchdog_;
    clock::time_point start_;
    std::vector<watched*> pools_;
    std::uint64_t operations_of_the_past_ = 0; // by pools that have left
    double current_part_ = 0;
    bool stopped_ = false;
    report result_;
};

} // namespace handlepool::stress

// SPDX-License-Identifier: MIT
#pragma once

#include "results/report.hpp"
#include "test_run.hpp"

#include <functional>
#include <span>
#include <string_view>
#include <vector>

namespace handlepool::stress {

// One way to put pools under load.
struct scenario {
    std::string_view name;
    std::string_view summary; // what it does, for people
    void (*run)(test_run& run);
    std::size_t objects = 2; // at the same time, as a multiple of --alive
    std::size_t threads = 1; // the same of --threads
};

// What they run: a file each in scenarios/, but for run_churn of churn.hpp.
void run_stale(test_run& run);
void run_race_erase(test_run& run);
void run_race_find(test_run& run);
void run_overlap(test_run& run);
void run_exhaust(test_run& run);
void run_retire(test_run& run);
void run_overflow(test_run& run);
void run_threads(test_run& run);
void run_reentrant(test_run& run);
void run_alone(test_run& run);
void run_changes(test_run& run);
void run_rollback(test_run& run);
void run_deterministic(test_run& run);
void run_throwing(test_run& run);
void run_stopped(test_run& run);
void run_hand_off(test_run& run);

// All of them, in the order in which `run all` goes through them.
std::span<const scenario> scenarios();

// Runs one scenario, whose report is named after it, and after the placement if that is not dense. An
// exception that a pool throws out of turn is a violation. Throws std::bad_alloc, reservation_failed, and
// std::runtime_error if the run can't be made.
report run_scenario(const scenario& which, const run_options& options);

// Throws std::runtime_error if the machine has not what the largest of all scenarios needs.
void check_resources(const run_options& options);

using report_sink = std::function<void(const report&)>;

// Runs all of them with each of the placements, each for its share of the time and of the operations. Calls
// `done` after each.
std::vector<report> run_all(const run_options& options, std::span<const placement_kind> with,
                            const report_sink& done);

// The same in short turns, again and again, each time with another seed, until the time is over or the
// operations are done. Calls `done` after each turn; returns one report for each scenario and placement.
std::vector<report> run_soak(const run_options& options, std::span<const placement_kind> with,
                             const report_sink& done);

} // namespace handlepool::stress

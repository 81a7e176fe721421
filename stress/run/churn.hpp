// SPDX-License-Identifier: MIT
#pragma once

#include "results/report.hpp"
#include "run/executors/frame_executor.hpp"
#include "test_run.hpp"

#include <cstddef>
#include <cstdint>

namespace handlepool::stress {

struct churn_options {
    std::size_t threads = 2;
    std::size_t alive = 100'000;
    double churn = 0.1; // part of the living objects that is replaced in each frame
    std::size_t frames = 600;
    std::size_t lookups = 256; // of each kind, by each thread in each frame
    std::uint64_t seed = 1;
    std::size_t sample = 1; // check the histories of one slot in this many
    service_setting service{};
};

// A synthetic frame loop: in each frame all threads erase and create their share of the objects, each time
// another thread's than before; some victims are erased by all threads at once, which exactly one must win.
// Throws what the pool throws, and std::runtime_error if it needs more memory or threads than there are.
report churn(const churn_options& options);

// The same as a scenario, for as long as the run wants.
void run_churn(test_run& run);

} // namespace handlepool::stress

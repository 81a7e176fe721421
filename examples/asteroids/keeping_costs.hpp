// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>

namespace asteroids {

/// What it took to keep a world, summed up over frames.
struct keeping_costs {
    std::uint64_t bytes = 0; // of what they have changed
    // The frames paid these, and longer compactions, in which the logs write down what was marked.
    std::chrono::nanoseconds mark{};
    std::chrono::nanoseconds record{}; // snapshots are captured in it, too
    std::chrono::nanoseconds hand_over{};
    // In another thread.
    std::chrono::nanoseconds append{};
};

} // namespace asteroids

// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>

namespace handlepool::stress {

// Ends the program, as for a violation, when a run shows no sign of life for minutes: a pool that is wrong
// may leave its threads in an endless loop, and nothing else would report that.
class watchdog {
public:
    explicit watchdog(std::string_view label);

    watchdog(const watchdog&) = delete;
    watchdog& operator=(const watchdog&) = delete;

    // Any thread; wait-free.
    void show_life() noexcept { signs_.fetch_add(1, std::memory_order::relaxed); }

private:
    void watch(const std::stop_token& stop) const;

    std::string label_;
    std::atomic<std::uint64_t> signs_{0};
    std::jthread thread_; // last: it uses the others
};

} // namespace handlepool::stress

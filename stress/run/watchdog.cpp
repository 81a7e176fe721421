// SPDX-License-Identifier: MIT
#include "watchdog.hpp"

#include <support/files/tell.hpp>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>

namespace handlepool::stress {

namespace {

// Far longer than one part of a scenario takes, also under a sanitizer.
constexpr std::chrono::minutes patience{3};

} // namespace

watchdog::watchdog(std::string_view label)
    : label_(label), thread_([this](const std::stop_token& stop) { watch(stop); }) {}

void watchdog::watch(const std::stop_token& stop) const {
    std::mutex mutex;
    std::condition_variable_any stopped;
    std::unique_lock lock(mutex);
    while (!stop.stop_requested()) {
        const std::uint64_t before = signs_.load(std::memory_order::relaxed);
        const bool ended = stopped.wait_for(lock, stop, patience, [&stop] { return stop.stop_requested(); });
        if (!ended && signs_.load(std::memory_order::relaxed) == before) {
            support::tell(
                "handlepool-stress: '{}' shows no sign of life for {} minutes: a thread of it waits, or "
                "loops, without end\n",
                label_, patience.count());
            std::fflush(stderr);
            std::_Exit(1);
        }
    }
}

} // namespace handlepool::stress

// SPDX-License-Identifier: MIT
#pragma once

#include <support/threads/thread_team.hpp>

#include <atomic>
#include <cstddef>

namespace handlepool::test {

/// Runs `body(0)` to `body(count - 1)`, each in a thread of its own, which all start at the same moment.
/// Rethrows the first exception.
template <class Body>
void in_threads(std::size_t count, Body body) {
    support::thread_team(count).run(body);
}

/// The same, and in one more thread `meanwhile()` again and again, until those have ended.
template <class Body, class Meanwhile>
void in_threads(std::size_t count, Body body, Meanwhile meanwhile) {
    std::atomic<std::size_t> working = count;
    in_threads(count + 1, [&](std::size_t thread) {
        if (thread == count) {
            while (working != 0) {
                meanwhile();
            }
            return;
        }
        body(thread);
        --working;
    });
}

} // namespace handlepool::test

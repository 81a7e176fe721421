// SPDX-License-Identifier: MIT
#pragma once

#include <support/threads/thread_team.hpp>

#include <cstddef>

namespace handlepool::test {

/// Runs `body(0)` to `body(count - 1)`, each in a thread of its own, which all start at the same moment.
/// Rethrows the first exception.
template <class Body>
void in_threads(std::size_t count, Body body) {
    support::thread_team(count).run(body);
}

} // namespace handlepool::test

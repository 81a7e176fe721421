// SPDX-License-Identifier: MIT
#pragma once

#include "oracle/event.hpp"

#include <chrono>

namespace handlepool::stress {

// The calling thread's time. Never runs backwards within a thread.
inline time_stamp now() noexcept {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

// By how much one thread's clock was seen to be behind another's: two threads pass a message to and fro, and
// compare its arrival with its departure, for a tenth of a second at the most. 0 if no message arrived before
// it was sent.
time_stamp measure_clock_skew();

// Times of two threads that are closer than this have no order. A processor may run an operation's loads some
// dozen cycles before the clock is read that stands in front of them.
inline constexpr time_stamp clock_resolution = 100;

} // namespace handlepool::stress

// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <chrono>

namespace handlepool::detail {

/// So much later than now. A year stands for whatever is longer, which a point in time could not hold.
inline std::chrono::steady_clock::time_point time_after(std::chrono::milliseconds timeout) noexcept {
    return std::chrono::steady_clock::now() +
           std::clamp<std::chrono::milliseconds>(timeout, std::chrono::milliseconds(0),
                                                 std::chrono::hours(24 * 365));
}

} // namespace handlepool::detail

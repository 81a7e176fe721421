// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>

#include <cstdint>
// For std::chrono::nanoseconds. libstdc++ keeps durations apart from the calendars and formats of <chrono>,
// which take longer to compile than a pool.
#if __has_include(<bits/chrono.h>)
#include <bits/chrono.h>
#else
#include <chrono>
#endif

namespace handlepool::detail {

/// Of a clock that never goes back. Any thread. Behind a call, because <chrono> takes longer to compile than
/// all that includes this.
HANDLEPOOL_EXPORT std::uint64_t monotonic_nanoseconds() noexcept;

} // namespace handlepool::detail

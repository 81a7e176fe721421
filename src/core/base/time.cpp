// SPDX-License-Identifier: MIT
#include <handlepool/detail/base/time.hpp>

#include <chrono>

namespace handlepool::detail {

std::uint64_t monotonic_nanoseconds() noexcept {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(std::chrono::nanoseconds(now).count());
}

} // namespace handlepool::detail

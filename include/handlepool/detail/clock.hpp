#pragma once

#include <handlepool/detail/config.hpp>

#include <cstdint>

namespace handlepool::detail {

/// Of a clock that never goes back. Any thread. Behind a call, because <chrono> takes longer to compile than
/// all that includes this.
HANDLEPOOL_EXPORT std::uint64_t monotonic_nanoseconds() noexcept;

} // namespace handlepool::detail

// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace handlepool::detail {

/// What a block of a snapshot is about. The numbers are those of the file.
enum class block_kind : std::uint32_t { end, pool, container, value, frames, pool_delta, lives };

} // namespace handlepool::detail

// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

namespace handlepool_bench::peers {

/// Bytes of the process's memory that are resident now, exactly. Throws std::runtime_error if the system
/// doesn't say.
std::size_t resident_bytes();

} // namespace handlepool_bench::peers

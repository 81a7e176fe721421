// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

namespace handlepool_bench::peers {

/// Objects alive where something else than their number is compared.
constexpr std::size_t common_size = 100'000;

} // namespace handlepool_bench::peers

// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

namespace handlepool_bench {

/// As a user would choose it: a tenth is erased and a tenth created before the next compaction.
constexpr std::size_t capacity_for(std::size_t alive) {
    return alive + alive / 4;
}

} // namespace handlepool_bench

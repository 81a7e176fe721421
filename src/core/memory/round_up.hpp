// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

namespace handlepool::detail {

/// The next multiple of the alignment, of a size or of an address.
inline std::size_t round_up(std::size_t value, std::size_t alignment) noexcept {
    return (value + alignment - 1) / alignment * alignment;
}

} // namespace handlepool::detail

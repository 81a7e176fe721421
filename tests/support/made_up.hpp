// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/handle.hpp>

#include <cstdint>

namespace handlepool::test {

/// A handle that a pool with this id could have given out.
template <class Handle = handle<int>>
Handle made_up(std::uint64_t index, std::uint32_t generation = 1, std::uint32_t pool_id = 1) {
    using layout = typename Handle::layout;
    return Handle::from_value(layout::value_of(index, layout::make_tag(pool_id, generation)));
}

} // namespace handlepool::test

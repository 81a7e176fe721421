// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/compaction/stable_placement.hpp>
#include <handlepool/detail/parts/pool_config.hpp>
#include <handlepool/detail/placement/recycling_places.hpp>
#include <handlepool/placement.hpp>

namespace handlepool::detail {

/// Objects stay where they are, and their memory is kept.
template <class Config>
struct placement_parts<Config, recycling_placement> : placement_parts<Config, stable_placement> {
    using places = recycling_places<Config>;
};

} // namespace handlepool::detail

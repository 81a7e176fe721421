// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/compaction/stable_placement.hpp>
#include <handlepool/detail/parts/pool_config.hpp>
#include <handlepool/detail/placement/object_lifetimes.hpp>
#include <handlepool/detail/placement/stable_places.hpp>
#include <handlepool/placement.hpp>

namespace handlepool::detail {

/// Objects stay where they are, and their memory is kept.
template <class Config>
struct placement_parts<Config, recycling_placement> : placement_parts<Config, stable_placement> {
    using places = stable_places<Config, kept_objects<typename Config::policy>>;
};

} // namespace handlepool::detail

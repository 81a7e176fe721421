// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/fifo_freelist.hpp>
#include <handlepool/fwd.hpp>
#include <handlepool/handle.hpp>
#include <handlepool/placement.hpp>
#include <handlepool/policy.hpp>

namespace handlepool::detail {

/// What the parts of a pool are made with.
template <class Layout = default_layout, class Policy = default_policy,
          template <class> class Freelist = fifo_freelist, class Placement = dense_placement>
struct pool_config {
    using layout = Layout;
    using policy = Policy;
    using freelist = Freelist<Policy>;
    using placement = Placement;
};

/// Where the objects of a pool are created, and what takes them into its store: `places`, a nursery or like
/// it, and `promoter<T>`.
template <class Config, class Placement = typename Config::placement>
struct placement_parts;

} // namespace handlepool::detail

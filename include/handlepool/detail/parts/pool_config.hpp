// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/traits.hpp>

namespace handlepool::detail {

/// The types that the parts of a pool are configured with.
template <class Layout, class Policy, class Freelist = default_traits::freelist<Policy>,
          class Placement = default_traits::placement>
struct pool_config {
    using layout = Layout;
    using policy = Policy;
    using freelist = Freelist;
    using placement = Placement;
};

/// The configuration for these traits. It is one type for all traits with the same members, whatever they are
/// called, and for all keys of their layout: so their pools share one instantiation of the parts.
template <class Traits>
using config_of =
    pool_config<typename Traits::layout::unkeyed, typename Traits::policy,
                typename Traits::template freelist<typename Traits::policy>, typename Traits::placement>;

/// Where the objects of a pool are created, and what takes them into its store: `places`, a nursery or like
/// it, and `promoter<T>`.
template <class Config, class Placement = typename Config::placement>
struct placement_parts;

} // namespace handlepool::detail

// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/fifo_freelist.hpp>
#include <handlepool/fwd.hpp>
#include <handlepool/handle.hpp>
#include <handlepool/placement.hpp>
#include <handlepool/policy.hpp>

namespace handlepool {

/// The types that a pool is configured with. To change some of them, derive from it, or nest with_layout,
/// with_policy, with_freelist and with_placement:
///
///     struct ship_traits : default_traits { using layout = keyed_layout<ship>; };
///     pool<ship, ship_traits> ships(options);
///     stable_pool<anchor, with_layout<script_layout, with_policy<tiny_policy>>> anchors(options);
///
/// Pools of the same objects are different types where their traits are, but share the code behind them where
/// the members of these are the same.
struct default_traits {
    /// How the bits of a handle are divided: a handle_layout, or a keyed_layout.
    using layout = default_layout;
    /// Atomics, memory and batch sizes: see default_policy.
    using policy = default_policy;
    /// Where slots wait for their next use: fifo_freelist, boost_freelist, or another of the concept
    /// `freelist`. It is instantiated with the policy.
    template <class Policy>
    using freelist = fifo_freelist<Policy>;
    /// Where objects lie: dense_placement, stable_placement or recycling_placement. The last two need the
    /// headers of stable_pool and recycling_pool.
    using placement = dense_placement;
};

/// Traits with another layout, and for the rest those of `Traits`.
template <class Layout, class Traits>
struct with_layout : Traits {
    /// How the bits of a handle are divided.
    using layout = Layout;
};

/// Traits with another policy, and for the rest those of `Traits`.
template <class Policy, class Traits>
struct with_policy : Traits {
    /// Atomics, memory and batch sizes.
    using policy = Policy;
};

/// Traits with another freelist, and for the rest those of `Traits`.
template <template <class> class Freelist, class Traits>
struct with_freelist : Traits {
    /// Where slots wait for their next use.
    template <class Policy>
    using freelist = Freelist<Policy>;
};

/// Traits with another placement, and for the rest those of `Traits`.
template <class Placement, class Traits>
struct with_placement : Traits {
    /// Where objects lie.
    using placement = Placement;
};

} // namespace handlepool

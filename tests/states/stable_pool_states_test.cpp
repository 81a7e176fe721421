// SPDX-License-Identifier: MIT

// Pools whose objects never move.

#include "pool_states_suite.hpp"

#include <handlepool/recycling_pool.hpp>
#include <handlepool/stable_pool.hpp>

#include <gtest/gtest.h>

#include <optional>

namespace handlepool::test {
namespace {

/// After shrink_to_fit(), at most so many objects are there of which nobody has a handle.
template <class Pool, int MostKept, bool IsWatched = true>
struct fixed_objects {
    using pool_type = Pool;
    static constexpr bool is_watched = IsWatched;
    static constexpr bool keep_order = false;
    static constexpr int most_kept = MostKept;
    static void make(std::optional<pool_type>& made, const pool_options& options) { made.emplace(options); }
};

using pools_with_fixed_objects =
    testing::Types<fixed_objects<stable_pool<tracked>, 0>, fixed_objects<recycling_pool<tracked>, 63>,
                   fixed_objects<stable_pool<untracked>, 0, false>>;
INSTANTIATE_TYPED_TEST_SUITE_P(fixed_objects, pool_states, pools_with_fixed_objects);

} // namespace
} // namespace handlepool::test

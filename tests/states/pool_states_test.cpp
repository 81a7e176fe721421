// SPDX-License-Identifier: MIT

// Pools whose objects move.

#include "pool_states_suite.hpp"

#include <handlepool/pool.hpp>

#include <gtest/gtest.h>

#include <optional>
#include <type_traits>

namespace handlepool::test {
namespace {

template <class Object, bool KeepOrder>
struct moving_objects {
    using pool_type = pool<Object>;
    static constexpr bool is_watched = std::is_same_v<Object, tracked>;
    static constexpr bool keep_order = KeepOrder;
    static constexpr int most_kept = 0;
    static void make(std::optional<pool_type>& made, const pool_options& options) { made.emplace(options); }
};

using pools_with_moving_objects =
    testing::Types<moving_objects<tracked, false>, moving_objects<tracked, true>,
                   moving_objects<untracked, false>>;
INSTANTIATE_TYPED_TEST_SUITE_P(moving_objects, pool_states, pools_with_moving_objects);

} // namespace
} // namespace handlepool::test

// Pools whose objects move.

#include "pool_states_suite.hpp"

#include <handlepool/pool.hpp>

#include <gtest/gtest.h>

#include <optional>

namespace handlepool::test {
namespace {

template <bool KeepOrder>
struct moving_objects {
    using pool_type = pool<tracked>;
    static constexpr bool keep_order = KeepOrder;
    static constexpr int most_kept = 0;
    static void make(std::optional<pool_type>& made, const pool_options& options) { made.emplace(options); }
};

using pools_with_moving_objects = testing::Types<moving_objects<false>, moving_objects<true>>;
INSTANTIATE_TYPED_TEST_SUITE_P(moving_objects, pool_states, pools_with_moving_objects);

} // namespace
} // namespace handlepool::test

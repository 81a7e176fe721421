// SPDX-License-Identifier: MIT

// Pools of rows, and pools of a type that is known at run time only.

#include "pool_states_suite.hpp"

#include <handlepool/columns.hpp>
#include <handlepool/raw_pool.hpp>
#include <handlepool/raw_type.hpp>

#include <gtest/gtest.h>

#include <new>
#include <optional>
#include <utility>

namespace handlepool::test {
namespace {

struct rows {
    using pool_type = pool<columns<tracked, int>>;
    static constexpr bool keep_order = false;
    static constexpr int most_kept = 0;
    static constexpr bool is_watched = true;
    static void make(std::optional<pool_type>& made, const pool_options& options) { made.emplace(options); }
};

struct raw_objects {
    using pool_type = raw_pool<>;
    static constexpr bool keep_order = true;
    static constexpr int most_kept = 0;
    static constexpr bool is_watched = true;
    static void make(std::optional<pool_type>& made, const pool_options& options) {
        made.emplace(options,
                     raw_type{.size = sizeof(tracked),
                              .alignment = alignof(tracked),
                              .relocate =
                                  [](void* to, void* from, void*) noexcept {
                                      tracked& moved = *static_cast<tracked*>(from);
                                      ::new (to) tracked(std::move(moved));
                                      moved.~tracked();
                                  },
                              .destroy = [](void* object,
                                            void*) noexcept { static_cast<tracked*>(object)->~tracked(); }});
    }
};

using pools_of_other_objects = testing::Types<rows, raw_objects>;
INSTANTIATE_TYPED_TEST_SUITE_P(rows_and_raw_objects, pool_states, pools_of_other_objects);

} // namespace
} // namespace handlepool::test

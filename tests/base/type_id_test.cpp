// SPDX-License-Identifier: MIT
#include <handlepool/detail/base/type_id.hpp>

#include <gtest/gtest.h>

// That it is one for two modules of a process is tested in tests/delivery/shared.

namespace {

using handlepool::detail::type_id;

struct ship {};
struct rocket {};

TEST(type_id_test, is_equal_for_one_type_only) {
    EXPECT_EQ(type_id::of<ship>(), type_id::of<ship>());
    EXPECT_FALSE(type_id::of<ship>() == type_id::of<rocket>());
    EXPECT_FALSE(type_id::of<ship>() == type_id::of<ship*>());
    EXPECT_FALSE(type_id::of<void>() == type_id::of<int>());
}

} // namespace

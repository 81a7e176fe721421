// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <src/shared/whole_number.hpp>

#include <cstdint>
#include <limits>
#include <optional>

namespace handlepool::test {
namespace {

using detail::whole_number;

TEST(whole_number_test, is_that_of_a_double_where_doubles_are_exact) {
    constexpr std::uint64_t most = std::uint64_t{1} << 53;
    EXPECT_EQ(whole_number(0), 0U);
    EXPECT_EQ(whole_number(-0.0), 0U);
    EXPECT_EQ(whole_number(1e4), 10'000U);
    EXPECT_EQ(whole_number(static_cast<double>(most - 1)), most - 1);
    EXPECT_EQ(whole_number(static_cast<double>(most)), most);
}

TEST(whole_number_test, anything_else_is_none) {
    using limits = std::numeric_limits<double>;
    for (const double none :
         {0.5, 9'999.5, -1.0, limits::denorm_min(), -limits::denorm_min(), 0x1p53 + 2, 0x1p64, limits::max(),
          limits::infinity(), -limits::infinity(), limits::quiet_NaN()}) {
        EXPECT_EQ(whole_number(none), std::nullopt) << none;
    }
}

} // namespace
} // namespace handlepool::test

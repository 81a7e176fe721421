// SPDX-License-Identifier: MIT
#include <handlepool/fmt.hpp>

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace handlepool::test {
namespace {

template <class Layout = default_layout>
handle<int, Layout> make(std::uint64_t index, std::uint32_t generation, std::uint32_t pool_id) {
    return handle<int, Layout>::from_value(Layout::value_of(index, Layout::make_tag(pool_id, generation)));
}

TEST(fmt_test, prints_the_parts_of_a_handle) {
    EXPECT_EQ(fmt::format("{}", make(1021, 7, 3)), "#1021 generation 7 pool 3");
    EXPECT_EQ(fmt::format("{}", make<handle_layout<16, 12, 4>>(65'535, 4095, 15)),
              "#65535 generation 4095 pool 15");
}

TEST(fmt_test, prints_null_by_name) {
    EXPECT_EQ(fmt::format("<{}>", handle<int>{}), "<null>");
}

TEST(fmt_test, prints_handles_among_other_values_and_in_ranges) {
    EXPECT_EQ(fmt::format("{} {} {}", 1, make(2, 3, 4), 5), "1 #2 generation 3 pool 4 5");
    EXPECT_EQ(fmt::format("{}", std::vector{make(1, 1, 0), handle<int>{}}), "[#1 generation 1 pool 0, null]");
}

TEST(fmt_test, refuses_format_specifications) {
    EXPECT_THROW(static_cast<void>(fmt::format(fmt::runtime("{:x}"), make(2, 3, 4))), fmt::format_error);
}

} // namespace
} // namespace handlepool::test

// SPDX-License-Identifier: MIT

// Handles of 53 bits survive a double, as scripts and JSON readers have them.

#include <handlepool/pool.hpp>

#include <gtest/gtest.h>
#include <tests/support/tabulate.hpp>

#include <cstdint>
#include <random>
#include <string>

namespace handlepool::test {
namespace {

using script_handle = handle<int, script_layout>;
using script_pool = pool<int, with_layout<script_layout>>;

static_assert(script_layout::bits == 53 && sizeof(script_handle) == 8);
static_assert(handle_layout<10, 8, 2>::bits == 20 && sizeof(handle<int, handle_layout<10, 8, 2>>) == 4);

script_handle through_a_double(script_handle handle) {
    return script_handle::from_value(static_cast<std::uint64_t>(static_cast<double>(handle.value())));
}

TEST(script_layout_test, every_handle_survives_a_double) {
    for (const std::uint32_t generation : {0U, 1U, 2U, script_layout::generation_mask}) {
        for (const std::uint32_t pool_id : {0U, 1U, script_layout::pool_id_mask}) {
            for (const std::uint64_t index :
                 {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{script_layout::index_mask}}) {
                const auto handle = script_handle::from_value(
                    script_layout::value_of(index, script_layout::make_tag(pool_id, generation)));
                EXPECT_EQ(handle.index(), index);
                EXPECT_EQ(handle.generation(), generation);
                EXPECT_EQ(handle.pool_id(), pool_id);
                EXPECT_EQ(through_a_double(handle), handle);
            }
        }
    }
}

TEST(script_layout_test, handles_of_the_last_pool_id_work_in_a_pool_after_a_double) {
    script_pool pool({.name = "script", .capacity = 100, .pool_id = script_layout::pool_id_mask});
    const auto handles = tabulate(100, [&](int i) { return through_a_double(pool.emplace(i)); });
    pool.compact();
    for (int i = 0; i != 100; ++i) {
        EXPECT_EQ(pool.at(handles[static_cast<std::size_t>(i)]), i);
        EXPECT_TRUE(pool.erase(through_a_double(handles[static_cast<std::size_t>(i)])));
    }
}

// The default layout's do not, and then name another object: the reason for this layout.
TEST(script_layout_test, handles_of_the_default_layout_do_not_survive_a_double) {
    using layout = default_layout;
    const auto one = layout::value_of(0, layout::make_tag(700, 1));
    const auto other = layout::value_of(1, layout::make_tag(700, 1));
    EXPECT_EQ(static_cast<double>(one), static_cast<double>(other));
}

template <class Layout>
class narrow_layout : public testing::Test {};
using narrow_layouts =
    testing::Types<script_layout, handle_layout<21, 22, 10>, handle_layout<10, 8, 2>, handle_layout<16, 8, 4>,
                   handle_layout<33, 10, 10>, handle_layout<1, 2, 1>>;
TYPED_TEST_SUITE(narrow_layout, narrow_layouts);

TYPED_TEST(narrow_layout, refuses_a_living_handle_with_any_further_bit) {
    using value_type = typename TypeParam::value_type;
    pool<int, with_layout<TypeParam>> pool(
        {.name = "narrow", .capacity = 1, .reuse_delay = 0, .max_threads = 4096});
    const auto alive = pool.emplace(7);
    ASSERT_TRUE(pool.contains(alive));
    for (unsigned bit = 0; bit != 8 * sizeof(value_type); ++bit) {
        const auto forged =
            handle<int, TypeParam>::from_value(alive.value() ^ static_cast<value_type>(value_type{1} << bit));
        EXPECT_FALSE(pool.contains(forged)) << bit;
        EXPECT_EQ(pool.find(forged), nullptr) << bit;
        EXPECT_FALSE(pool.erase(forged)) << bit;
        EXPECT_LE(forged.pool_id(), TypeParam::pool_id_mask);
        EXPECT_EQ(pool.describe(forged).find("its layout leaves out") != std::string::npos,
                  bit >= TypeParam::bits);
    }
    EXPECT_TRUE(pool.contains(alive));
    EXPECT_FALSE(pool.contains(handle<int, TypeParam>::from_value(static_cast<value_type>(~value_type{0}))));
    EXPECT_TRUE(pool.erase(alive));
}

TYPED_TEST(narrow_layout, random_values_name_nothing) {
    using value_type = typename TypeParam::value_type;
    pool<int, with_layout<TypeParam>> pool(
        {.name = "narrow", .capacity = 1, .reuse_delay = 0, .max_threads = 4096});
    const auto alive = pool.emplace(7);
    std::mt19937_64 random(1);
    for (int i = 0; i != 100'000; ++i) {
        const auto forged = handle<int, TypeParam>::from_value(static_cast<value_type>(random()));
        EXPECT_EQ(pool.contains(forged), forged == alive);
    }
}

} // namespace
} // namespace handlepool::test

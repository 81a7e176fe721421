// SPDX-License-Identifier: MIT

// find_disjoint: several objects, checked to be different.

#include <handlepool/pool.hpp>
#include <handlepool/raw_pool.hpp>

#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

namespace handlepool::test {
namespace {

TEST(find_disjoint, finds_objects_that_are_alive_and_different) {
    pool<int> pool({.name = "ints", .capacity = 10});
    const auto a = pool.emplace(1);
    pool.compact();
    const auto b = pool.emplace(2);
    const auto c = pool.emplace(3);
    const auto found = pool.find_disjoint(a, b, c);
    ASSERT_TRUE(found);
    const auto [first, second, third] = *found;
    EXPECT_EQ(first, pool.find(a));
    EXPECT_EQ(second, pool.find(b));
    EXPECT_EQ(third, pool.find(c));
    std::swap(*first, *third);
    EXPECT_EQ(pool.at(a), 3);
    EXPECT_EQ((*pool.find_disjoint(b))[0], &pool.at(b)) << "one is always different";
}

TEST(find_disjoint, finds_nothing_when_two_are_the_same_or_one_is_not_alive) {
    pool<int> pool({.name = "ints", .capacity = 10});
    handlepool::pool<int> other({.name = "other", .capacity = 10});
    const auto a = pool.emplace(1);
    const auto b = pool.emplace(2);
    const auto c = pool.emplace(3);
    const auto erased = pool.emplace(4);
    pool.erase(erased);
    for (const auto x : {a, b, c, erased, handle<int>(), other.emplace(1)}) {
        for (const auto y : {a, b, c, erased, handle<int>()}) {
            for (const auto z : {a, b, c, erased, handle<int>()}) {
                const bool right =
                    pool.contains(x) && pool.contains(y) && pool.contains(z) && x != y && y != z && x != z;
                EXPECT_EQ(pool.find_disjoint(x, y, z).has_value(), right);
            }
        }
    }
    EXPECT_FALSE(pool.find_disjoint(erased));
}

TEST(find_disjoint, of_a_constant_pool_finds_constant_objects) {
    pool<std::string> strings({.name = "strings", .capacity = 10});
    const auto a = strings.emplace("a");
    const auto b = strings.emplace("b");
    const auto& seen = strings;
    static_assert(
        std::is_same_v<decltype(seen.find_disjoint(a, b)), std::optional<std::array<const std::string*, 2>>>);
    static_assert(
        std::is_same_v<decltype(strings.find_disjoint(a, b)), std::optional<std::array<std::string*, 2>>>);
    EXPECT_EQ(*(*seen.find_disjoint(a, b))[1], "b");
    EXPECT_FALSE(seen.find_disjoint(a, a));
}

TEST(find_disjoint, of_a_raw_pool_finds_pointers) {
    raw_pool<> pool({.name = "raw", .capacity = 10}, {.size = 8, .alignment = 8});
    const auto a = pool.emplace();
    const auto b = pool.emplace();
    const auto found = pool.find_disjoint(a, b);
    ASSERT_TRUE(found);
    EXPECT_EQ((*found)[0], pool.find(a));
    EXPECT_EQ((*found)[1], pool.find(b));
    EXPECT_FALSE(pool.find_disjoint(b, b));
}

} // namespace
} // namespace handlepool::test

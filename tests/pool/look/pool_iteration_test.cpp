// SPDX-License-Identifier: MIT

// What goes over the objects of a pool may change them, and can't put one in another's place.

#include <handlepool/pool.hpp>
#include <handlepool/raw_pool.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <ranges>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

using testing::ElementsAre;
using ints = pool<int>;

static_assert(std::ranges::input_range<ints> && !std::ranges::forward_range<ints>);
static_assert(std::is_same_v<std::ranges::range_reference_t<ints>, int&>);
static_assert(!std::ranges::random_access_range<ints> && !std::ranges::sized_range<ints>);
static_assert(!std::permutable<std::ranges::iterator_t<ints>> &&
              !std::sortable<std::ranges::iterator_t<ints>>);
static_assert(std::ranges::contiguous_range<const ints>);
static_assert(std::is_same_v<std::ranges::range_reference_t<const ints>, const int&>);

template <class Range>
concept sortable_range = requires(Range& range) { std::ranges::sort(range); };
template <class Iterator>
concept has_what_std_sort_needs = requires(Iterator one) {
    one - one;
    one + 1;
    one < one;
};
static_assert(!sortable_range<ints> && !sortable_range<const ints>);
static_assert(!has_what_std_sort_needs<ints::iterator>);
static_assert(sortable_range<std::vector<int>> && has_what_std_sort_needs<std::vector<int>::iterator>);

static_assert(std::is_same_v<decltype(std::declval<ints&>().items()), std::span<const int>>);
static_assert(std::is_same_v<decltype(std::declval<ints&>().mutable_items()), std::span<int>>);
static_assert(std::is_same_v<decltype(std::declval<raw_pool<>&>().items().data()), const void*>);
static_assert(std::is_same_v<decltype(std::declval<raw_pool<>&>().mutable_items().data()), void*>);

class pool_iteration : public testing::Test {
protected:
    pool_iteration() {
        for (const int number : {3, 1, 2}) {
            numbers.emplace(number);
        }
        numbers.compact();
    }
    ints numbers{{.name = "ints", .capacity = 10}};
};

TEST_F(pool_iteration, changes_the_objects) {
    for (int& each : numbers) {
        each *= 10;
    }
    EXPECT_THAT(numbers.items(), ElementsAre(30, 10, 20));
    std::ranges::for_each(numbers, [](int& each) { ++each; });
    EXPECT_THAT(numbers.items(), ElementsAre(31, 11, 21));
    for (int& each : numbers | std::views::filter([](int one) { return one > 20; })) {
        each = 0;
    }
    EXPECT_THAT(numbers.items(), ElementsAre(0, 11, 0));
    for (int& each : numbers.mutable_items()) {
        each = 5;
    }
    EXPECT_THAT(numbers.items(), ElementsAre(5, 5, 5));
}

TEST_F(pool_iteration, serves_algorithms_that_read) {
    EXPECT_EQ(std::ranges::count_if(numbers, [](int one) { return one > 1; }), 2);
    EXPECT_EQ(std::accumulate(numbers.begin(), numbers.end(), 0), 6);
    EXPECT_EQ(*std::ranges::max_element(numbers.items()), 3);
    EXPECT_EQ(*std::ranges::max_element(std::as_const(numbers)), 3);
    EXPECT_THAT(std::vector<int>(numbers.begin(), numbers.end()), ElementsAre(3, 1, 2));
    EXPECT_EQ(std::ranges::distance(numbers), 3);
    std::vector<int> copy(numbers.items().begin(), numbers.items().end());
    std::ranges::sort(copy);
    EXPECT_THAT(copy, ElementsAre(1, 2, 3));
}

TEST_F(pool_iteration, goes_over_the_dense_store_whatever_is_alive_beside_it) {
    numbers.emplace(4);
    EXPECT_EQ(numbers.size(), 4U);
    EXPECT_EQ(std::ranges::distance(numbers), 3);
    EXPECT_EQ(std::ranges::distance(std::as_const(numbers)), 3);
}

TEST_F(pool_iteration, finds_the_handle_of_each_object) {
    for (int& each : numbers) {
        EXPECT_EQ(numbers.find(numbers.handle_of(each)), &each);
    }
}

} // namespace
} // namespace handlepool::test

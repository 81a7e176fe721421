// SPDX-License-Identifier: MIT
#include <handlepool/columns.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/sort.hpp>
#include <handlepool/thread_executor.hpp>

#include <gtest/gtest.h>
#include <tests/support/failing_new.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace handlepool::test {
namespace {

using ints = pool<int>;

void fill(ints& pool, bool in_order) {
    pool.reset();
    for (int i = 0; i != 3000; ++i) {
        pool.emplace(in_order ? i : i * 7919 % 3001);
    }
    pool.compact();
}

/// Sorts with each allocation failing in turn: then all stays as it was. Returns how many there are.
template <class Sort>
std::size_t sort_without_memory(Sort sort) {
    ints pool({.name = "ints", .capacity = 3000});
    fill(pool, false);
    const std::vector<int> before(pool.items().begin(), pool.items().end());
    return with_each_allocation_failing(shortage::of_one_allocation, [&](memory_shortage& when) {
        const bool sorted = !when.hits([&] { sort(pool); });
        EXPECT_EQ(std::ranges::is_sorted(pool.items()), sorted);
        EXPECT_EQ(std::ranges::equal(pool.items(), before), !sorted);
        EXPECT_TRUE(pool.try_compact());
    });
}

constexpr auto smaller = [](int a, int b) noexcept { return a < b; };
constexpr auto smaller_tenth = [](int a, int b) noexcept { return a / 10 < b / 10; };
constexpr auto itself = [](int value) noexcept { return value; };

TEST(sorting_without_memory, leaves_the_order_as_it_was) {
    EXPECT_GE(sort_without_memory([](ints& pool) { sort(pool, smaller); }), 3U);
    EXPECT_GE(sort_without_memory([](ints& pool) { sort_by(pool, itself); }), 3U);
    EXPECT_GE(sort_without_memory([](ints& pool) {
                  sort_by(pool, [](int value) {
                      return std::string(1, static_cast<char>(value / 16 + 1)) +
                             static_cast<char>(value % 16 + 1);
                  });
              }),
              3U);
    EXPECT_GE(sort_without_memory([](ints& pool) { sort_some(pool, smaller, 5000); }), 5U);
    thread_executor executor(2);
    EXPECT_GE(sort_without_memory([&](ints& pool) { sort(pool, smaller, executor); }), 5U);
    EXPECT_GE(sort_without_memory([&](ints& pool) { sort_by(pool, itself, executor); }), 5U);
}

// Keys that are copied in an executor's threads, each copy with an allocation of its own.
TEST(sorting_without_memory, by_threads_passes_on_what_copies_of_keys_throw) {
    struct named {
        std::string name;
    };
    constexpr int count = 40;
    pool<named> all({.name = "named", .capacity = 2000});
    for (int i = 0; i != 2000; ++i) {
        all.emplace(std::to_string(1000 + i * 7919 % 2001) + " is a name that has memory of its own");
    }
    all.compact();
    thread_executor executor(2);
    const auto first_name = all.items()[0].name;
    const auto copied = [](const named& one) -> const std::string& { return one.name; };
    const auto made = [](const named& one) { return one.name + "!"; };
    const auto sort_fails_at = [&](std::size_t allocation, auto sort) {
        memory_shortage when(shortage::of_one_allocation, allocation);
        EXPECT_TRUE(when.hits(sort));
        EXPECT_EQ(all.items()[0].name, first_name);
        EXPECT_TRUE(all.try_compact());
    };
    for (std::size_t i = 0; i != count; ++i) {
        const std::size_t allocation = i < 10 ? i : i * 50;
        sort_fails_at(allocation, [&] { sort_by(all, copied, executor); });
        sort_fails_at(allocation, [&] { sort_some_by(all, copied, 100, executor); });
        sort_fails_at(allocation, [&] { sort_by(all, made, executor); });
        sort_fails_at(allocation, [&] { sort_by(all, copied); });
    }
    sort_by(all, copied, executor);
    EXPECT_TRUE(std::ranges::is_sorted(all.items(), {}, &named::name));
}

// Each allocation of each part of a sort that goes on from an unfinished order.
TEST(sorting_without_memory, in_parts_leaves_the_store_and_the_order_that_was_begun) {
    thread_executor executor(2);
    for (const bool by_threads : {false, true}) {
        ints pool({.name = "ints", .capacity = 3000});
        const auto begin = [&] {
            fill(pool, false);
            sort_some(pool, smaller_tenth, 1000);
        };
        const auto end = [&] {
            while (!sort_some(pool, smaller_tenth, 1000).in_order) {
            }
            return std::vector<int>(pool.items().begin(), pool.items().end());
        };
        begin();
        const std::vector<int> expected = end();
        const std::size_t allocations =
            with_each_allocation_failing(shortage::of_one_allocation, [&](memory_shortage& when) {
                begin();
                const std::vector<int> before(pool.items().begin(), pool.items().end());
                const bool moved = !when.hits([&] {
                    by_threads ? sort_some(pool, smaller_tenth, 700, executor)
                               : sort_some(pool, smaller_tenth, 700);
                });
                EXPECT_EQ(std::ranges::equal(pool.items(), before), !moved);
                EXPECT_EQ(end(), expected);
            });
        EXPECT_GE(allocations, 9U);
    }
}

TEST(sorting_without_memory, leaves_rows_as_they_were) {
    struct tag {
        int value;
    };
    constexpr int count = 300;
    pool<columns<int, tag>> rows({.name = "rows", .capacity = count});
    for (int i = 0; i != count; ++i) {
        rows.emplace(count - i, tag{i});
    }
    rows.compact();
    thread_executor executor(2);
    for (const bool by_threads : {false, true}) {
        const std::size_t allocations =
            with_each_allocation_failing(shortage::of_one_allocation, [&](memory_shortage& when) {
                sort_by<tag>(rows, &tag::value);
                const bool sorted = !when.hits(
                    [&] { by_threads ? sort_by<int>(rows, itself, executor) : sort_by<int>(rows, itself); });
                EXPECT_EQ(std::ranges::is_sorted(rows.items<int>()), sorted);
                EXPECT_EQ(std::ranges::is_sorted(rows.items<tag>(), {}, &tag::value), !sorted);
            });
        EXPECT_GE(allocations, 3U);
    }
}

TEST(sorting_without_memory, does_for_objects_in_order) {
    ints pool({.name = "ints", .capacity = 3000});
    fill(pool, true);
    expect_no_allocation([&] {
        sort(pool, smaller);
        sort_some(pool, smaller, 10);
    });
}

} // namespace
} // namespace handlepool::test

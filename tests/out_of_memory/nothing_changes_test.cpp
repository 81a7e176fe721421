// SPDX-License-Identifier: MIT

// When an allocation fails in a call that may fail, nothing has changed.

#include <handlepool/pool.hpp>
#include <handlepool/scoped_hook.hpp>

#include <gtest/gtest.h>
#include <tests/support/failing_new.hpp>

#include <cstddef>
#include <forward_list>
#include <iterator>
#include <ranges>
#include <sstream>
#include <vector>

namespace handlepool::test {
namespace {

using ints = pool<int>;

/// Calls `round(pool)`, which may throw std::bad_alloc, until it doesn't, each time with another allocation
/// failing. Before each call the pool has two objects, one of them newborn; after a failure `check(pool)` is
/// called. Returns how many allocations there are.
template <class Round, class Check>
std::size_t with_failures(Round round, Check check) {
    return with_each_allocation_failing(shortage::of_one_allocation, [&](memory_shortage& when) {
        ints pool({.name = "ints", .capacity = 100});
        pool.emplace(1);
        pool.compact();
        pool.emplace(2);
        if (when.hits([&] { round(pool); })) {
            EXPECT_EQ(pool.size(), 2U);
            check(pool);
        }
        pool.compact();
        EXPECT_EQ(pool.items().size(), pool.size());
        EXPECT_TRUE(pool.idle());
    });
}

TEST(nothing_changes_without_memory, when_an_object_is_taken) {
    int delivered = 0;
    const auto sink = [&](int&& object) { delivered += object; };
    EXPECT_EQ(with_failures([&](ints& pool) { EXPECT_TRUE(pool.extract(pool.handles()[0], sink)); },
                            [](ints& pool) { EXPECT_TRUE(pool.contains(pool.handles()[0])); }),
              1U);
    EXPECT_EQ(delivered, 1);
    EXPECT_EQ(with_failures([&](ints& pool) { pool.extract({}, sink); }, [](ints&) {}), 0U)
        << "a stale handle needs no memory";
}

TEST(nothing_changes_without_memory, when_a_pool_is_drained) {
    int drained = 0;
    EXPECT_EQ(
        with_failures([&](ints& pool) { pool.drain([&](handle<int>, int&& object) { drained += object; }); },
                      [&](ints&) { EXPECT_EQ(drained, 0); }),
        1U);
    EXPECT_EQ(drained, 3);
}

TEST(nothing_changes_without_memory, when_a_range_is_inserted) {
    std::vector<handle<int>> handles;
    handles.reserve(3);
    const auto none_written = [&](ints&) { EXPECT_TRUE(handles.empty()); };
    const std::forward_list<int> list{1, 2, 3};
    EXPECT_GE(with_failures([&](ints& pool) { pool.insert_range(list, std::back_inserter(handles)); },
                            none_written),
              2U);
    EXPECT_EQ(handles.size(), 3U);
    handles.clear();
    EXPECT_GE(with_failures(
                  [&](ints& pool) {
                      std::istringstream numbers("1 2 3");
                      pool.insert_range(std::ranges::subrange(std::istream_iterator<int>(numbers),
                                                              std::istream_iterator<int>()),
                                        std::back_inserter(handles));
                  },
                  none_written),
              4U);
    EXPECT_EQ(handles.size(), 3U);
}

TEST(nothing_changes_without_memory, when_a_hook_is_added) {
    int calls = 0;
    scoped_hook connection;
    const auto none_called = [&](ints& pool) {
        EXPECT_FALSE(connection.connected());
        pool.clear();
        pool.compact();
        EXPECT_EQ(calls, 0);
        pool.emplace(3);
    };
    EXPECT_GE(
        with_failures([&](ints& pool) { connection = pool.on_birth([&](handle<int>, int&) { ++calls; }); },
                      none_called),
        2U);
    EXPECT_EQ(calls, 1) << "of the newborn";
    calls = 0;
    EXPECT_EQ(
        with_failures([&](ints& pool) { connection = pool.on_destroy([&](handle<int>, int&) { ++calls; }); },
                      none_called),
        2U);
    EXPECT_EQ(calls, 2) << "at the pool's end";
}

} // namespace
} // namespace handlepool::test

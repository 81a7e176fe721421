// SPDX-License-Identifier: MIT

// What is thrown in an executor's threads reaches the caller of the loop.

#include <handlepool/columns.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/raw_pool.hpp>
#include <handlepool/stable_pool.hpp>
#include <handlepool/thread_executor.hpp>

#include <gtest/gtest.h>
#include <tests/support/hostile_types.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>

namespace handlepool::test {
namespace {

constexpr std::size_t many = 20'000; // enough for several ranges

/// Runs `loop(visit)`, whose visits throw from one on, in turn from one in the first range, one later and
/// none.
template <class Loop>
void expect_what_is_thrown(Loop loop) {
    for (const std::int64_t passes : {std::int64_t{0}, std::int64_t{many / 2}, std::int64_t{many - 1}}) {
        fuse when(passes);
        EXPECT_THROW(loop([&] { when.burn(); }), construction_failure) << passes;
    }
    fuse never(many);
    std::atomic<std::size_t> visits = 0;
    loop([&] {
        ++visits;
        never.burn();
    });
    EXPECT_EQ(visits, many);
}

template <class Pool>
class loops_by_threads : public testing::Test {};
using pools_with_loops = testing::Types<pool<int>, stable_pool<int>>;
TYPED_TEST_SUITE(loops_by_threads, pools_with_loops);

TYPED_TEST(loops_by_threads, pass_on_what_visitors_and_predicates_throw) {
    thread_executor executor(3);
    TypeParam pool({.name = "objects", .capacity = many});
    for (std::size_t i = 0; i != many; ++i) {
        pool.emplace(1);
    }
    const auto erase_by = [&](auto visit) {
        erase_if(
            pool,
            [&](int) {
                visit();
                return false;
            },
            executor);
    };
    expect_what_is_thrown(erase_by); // newborns
    pool.compact();
    expect_what_is_thrown(erase_by);
    expect_what_is_thrown([&](auto visit) { pool.for_each([&](int&) { visit(); }, executor); });
    EXPECT_EQ(pool.size(), many);

    // What was erased before the exception stays erased.
    fuse when(many / 2);
    EXPECT_THROW(erase_if(
                     pool,
                     [&](int) {
                         when.burn();
                         return true;
                     },
                     executor),
                 construction_failure);
    EXPECT_EQ(pool.size() + pool.compact().removed, many);
    EXPECT_LT(pool.size(), many);
}

TEST(loops_over_rows_by_threads, pass_on_what_bodies_throw) {
    thread_executor executor(3);
    pool<columns<int, char>> rows({.name = "rows", .capacity = many});
    for (std::size_t i = 0; i != many; ++i) {
        rows.emplace(1, 'a');
    }
    rows.compact();
    expect_what_is_thrown([&](auto visit) { rows.for_each<const char>([&](char) { visit(); }, executor); });
    expect_what_is_thrown([&](auto visit) {
        erase_if(
            rows,
            [&](auto) {
                visit();
                return false;
            },
            executor);
    });
}

TEST(loops_over_raw_memory_by_threads, pass_on_what_visitors_throw) {
    thread_executor executor(3);
    raw_pool<> memory({.name = "memory", .capacity = many}, {.size = 4, .alignment = 4});
    for (std::size_t i = 0; i != many; ++i) {
        memory.emplace([](void* place) { ::new (place) int(1); });
    }
    memory.compact();
    expect_what_is_thrown([&](auto visit) { memory.for_each([&](void*) { visit(); }, executor); });
}

} // namespace
} // namespace handlepool::test

#include <handlepool/columns.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/thread_executor.hpp>

#include <gtest/gtest.h>
#include <support/failing_new.hpp>

#include <algorithm>
#include <cstddef>
#include <new>
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
        bool sorted = true;
        when.begin();
        try {
            sort(pool);
        } catch (const std::bad_alloc&) {
            sorted = false;
        }
        when.end();
        EXPECT_EQ(sorted, !when.came());
        EXPECT_EQ(std::ranges::is_sorted(pool.items()), sorted);
        EXPECT_EQ(std::ranges::equal(pool.items(), before), !sorted);
        EXPECT_TRUE(pool.try_compact());
    });
}

constexpr auto smaller = [](int a, int b) noexcept { return a < b; };
constexpr auto itself = [](int value) noexcept { return value; };

TEST(sorting_without_memory, leaves_the_order_as_it_was) {
    EXPECT_GE(sort_without_memory([](ints& pool) { pool.sort(smaller); }), 3U);
    EXPECT_GE(sort_without_memory([](ints& pool) { pool.sort_by(itself); }), 3U);
    EXPECT_GE(sort_without_memory([](ints& pool) {
                  pool.sort_by([](int value) {
                      return std::string(1, static_cast<char>(value / 16 + 1)) +
                             static_cast<char>(value % 16 + 1);
                  });
              }),
              3U);
    EXPECT_GE(sort_without_memory([](ints& pool) { pool.sort_some(smaller, 5000); }), 5U);
    thread_executor executor(2);
    EXPECT_GE(sort_without_memory([&](ints& pool) { pool.sort(smaller, executor); }), 5U);
    EXPECT_GE(sort_without_memory([&](ints& pool) { pool.sort_by(itself, executor); }), 5U);
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
                rows.sort_by<tag>(&tag::value);
                bool sorted = true;
                when.begin();
                try {
                    by_threads ? rows.sort_by<int>(itself, executor) : rows.sort_by<int>(itself);
                } catch (const std::bad_alloc&) {
                    sorted = false;
                }
                when.end();
                EXPECT_EQ(sorted, !when.came());
                EXPECT_EQ(std::ranges::is_sorted(rows.items<int>()), sorted);
                EXPECT_EQ(std::ranges::is_sorted(rows.items<tag>(), {}, &tag::value), !sorted);
            });
        EXPECT_GE(allocations, 3U);
    }
}

TEST(sorting_without_memory, does_for_objects_in_order) {
    ints pool({.name = "ints", .capacity = 3000});
    fill(pool, true);
    memory_shortage none(shortage::from_one_allocation_on, 0);
    none.begin();
    pool.sort(smaller);
    pool.sort_some(smaller, 10);
    none.end();
    EXPECT_FALSE(none.came());
}

} // namespace
} // namespace handlepool::test

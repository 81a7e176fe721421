// SPDX-License-Identifier: MIT

// Comparisons that are no order, which checked builds refuse.

#include <handlepool/columns.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/raw_pool.hpp>
#include <handlepool/sort.hpp>
#include <handlepool/thread_executor.hpp>

#include <gtest/gtest.h>

#include <limits>
#include <new>
#include <vector>

namespace handlepool::test {
namespace {

#if HANDLEPOOL_CHECKED

constexpr auto not_larger = [](int a, int b) noexcept { return a <= b; };
constexpr auto different = [](int a, int b) noexcept { return a != b; };
constexpr auto next_in_circle = [](int a, int b) noexcept { return (b - a + 3) % 3 == 1; };

class sort_contract_death : public testing::Test {
protected:
    sort_contract_death() {
        GTEST_FLAG_SET(death_test_style, "threadsafe");
        fill({2, 0, 1});
    }

    void fill(const std::vector<int>& values) {
        numbers.reset();
        for (const int value : values) {
            numbers.emplace(value);
        }
        numbers.compact();
    }

    pool<int> numbers{{.name = "numbers", .capacity = 10}};
};

constexpr const char* with_itself = "^handlepool: pool 'numbers': sorted by what is no strict weak order: "
                                    "compare\\(a, a\\) is true for the object at position 0\n$";

TEST_F(sort_contract_death, less_or_equal_by_every_way_to_sort) {
    fill({0, 1, 2});
    EXPECT_DEATH(sort(numbers, not_larger), with_itself);
    EXPECT_DEATH(sort_some(numbers, not_larger, 2), with_itself);
    EXPECT_DEATH(sort_some(numbers, not_larger, 0), with_itself);
    EXPECT_DEATH(
        {
            thread_executor executor(2);
            sort(numbers, not_larger, executor);
        },
        with_itself);
    fill({7, 7});
    EXPECT_DEATH(sort(numbers, not_larger), with_itself);
    EXPECT_DEATH(sort_some(numbers, not_larger, 2), with_itself);
}

TEST_F(sort_contract_death, two_that_are_less_than_each_other) {
    EXPECT_DEATH(sort(numbers, different),
                 "^handlepool: pool 'numbers': sorted by what is no strict weak order: compare\\(b, a\\) is "
                 "true, and compare\\(a, b\\) is true, for the objects a at position 0 and b at position "
                 "1\n$");
}

TEST_F(sort_contract_death, a_circle) {
    EXPECT_DEATH(sort(numbers, next_in_circle),
                 "^handlepool: pool 'numbers': sorted by what is no strict weak order: compare\\(b, a\\) is "
                 "true, and others put a before b, for the objects a at position 0 and b at position 2\n$");
}

// Keys with a `<` of their own.
struct unordered_key {
    int value;
    friend bool operator<(const unordered_key& a, const unordered_key& b) { return a.value <= b.value; }
};
struct large_unordered_key : unordered_key {
    explicit large_unordered_key(int from) : unordered_key{from}, more(3, from) {}
    std::vector<int> more;
};

TEST_F(sort_contract_death, keys_that_are_less_than_themselves) {
    constexpr const char* message = "^handlepool: pool 'numbers': sorted by what is no strict weak order: "
                                    "key\\(a\\) < key\\(a\\) is true for the object at position 1\n$";
    EXPECT_DEATH(sort_by(numbers, [](int value) { return unordered_key{value}; }), message);
    EXPECT_DEATH(sort_some_by(numbers, [](int value) { return unordered_key{value}; }, 2), message);
    EXPECT_DEATH(sort_by(numbers, [](int value) { return large_unordered_key(value); }), message);
}

TEST_F(sort_contract_death, keys_that_are_no_numbers) {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    fill({2, 1, 0}); // the one in the middle equals the others
    EXPECT_DEATH(
        sort_by(numbers, [](int value) { return value == 1 ? nan : value; }),
        "^handlepool: pool 'numbers': sorted by what is no strict weak order: key\\(b\\) < key\\(a\\) "
        "is true, and others put a before b, for the objects a at position 0 and b at position 2\n$");
}

TEST_F(sort_contract_death, rows_and_raw_memory) {
    pool<columns<int>> rows({.name = "rows", .capacity = 10});
    raw_pool<> memory({.name = "memory", .capacity = 10}, {.size = sizeof(int), .alignment = alignof(int)});
    for (const int value : {2, 1}) {
        rows.emplace(value);
        memory.emplace([&](void* place) { ::new (place) int(value); });
    }
    rows.compact();
    memory.compact();
    EXPECT_DEATH(sort(rows, [](auto a, auto b) { return a.template get<0>() <= b.template get<0>(); }),
                 "pool 'rows': sorted by what is no strict weak order: compare\\(a, a\\) is true for the "
                 "object at position 1\n$");
    EXPECT_DEATH(sort(memory,
                      [](const void* a, const void* b) {
                          return *static_cast<const int*>(a) <= *static_cast<const int*>(b);
                      }),
                 "pool 'memory': sorted by what is no strict weak order: compare\\(a, a\\) is true for the "
                 "object at position 1\n$");
}

#endif

} // namespace
} // namespace handlepool::test

// SPDX-License-Identifier: MIT
#include <handlepool/columns.hpp>
#include <handlepool/thread_executor.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tests/support/hostile_types.hpp>
#include <tests/support/row_consistency.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <ranges>
#include <type_traits>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

struct position {
    float x = 0;
    float y = 0;
};
struct velocity {
    float x = 0;
    float y = 0;
};
struct health {
    int points = 0;
    friend bool operator==(health, health) = default;
};

using movers = pool<columns<position, velocity, health>>;

const pool_options ten{.name = "movers", .capacity = 10};

TEST(columns_iteration, for_each_calls_with_the_columns_named) {
    movers pool(ten);
    const auto one = pool.emplace(position{1, 0}, velocity{10, 0}, health{1});
    const auto other = pool.emplace(position{2, 0}, velocity{20, 0}, health{2});
    pool.for_each<position>([](position&) { FAIL() << "no row is in the dense store yet"; });
    pool.compact();
    pool.for_each<const velocity, position>([](auto& speed, auto& where) {
        static_assert(std::is_same_v<decltype(speed), const velocity&>);
        static_assert(std::is_same_v<decltype(where), position&>);
        where.x += speed.x;
    });
    EXPECT_EQ(pool.at(one).get<position>().x, 11);
    EXPECT_EQ(pool.at(other).get<position>().x, 22);
    int points = 0;
    std::as_const(pool).for_each([&](auto& where, auto& speed, auto& left) {
        static_assert(std::is_same_v<decltype(where), const position&>);
        static_assert(std::is_same_v<decltype(speed), const velocity&>);
        points += left.points;
    });
    EXPECT_EQ(points, 3);
    std::as_const(pool).for_each<health>([&](const health& left) { points -= left.points; });
    EXPECT_EQ(points, 0);
}

TEST(columns_iteration, for_each_ends_with_the_exception_of_its_body) {
    movers pool(ten);
    std::array<movers::handle_type, 5> handles;
    pool.emplace_n(5, handles.begin());
    pool.compact();
    int calls = 0;
    EXPECT_THROW(pool.for_each<health>([&](health&) {
        if (++calls == 3) {
            throw construction_failure();
        }
    }),
                 construction_failure);
    EXPECT_EQ(calls, 3);
}

TEST(columns_iteration, a_body_may_create_and_erase) {
    movers pool({.name = "movers", .capacity = 100});
    std::array<movers::handle_type, 5> handles;
    pool.emplace_n(5, handles.begin());
    pool.compact();
    int calls = 0;
    pool.for_each<health>([&](const health& left) {
        ++calls;
        EXPECT_TRUE(pool.erase(pool.handle_of(left)));
        pool.emplace(health{9});
    });
    EXPECT_EQ(calls, 5);
    expect_consistent_rows(pool);
    EXPECT_THAT(pool.items<health>(), testing::Each(health{9}));
}

/// Runs each group of `step` items as a range of its own, and remembers where the ranges began.
struct range_recorder {
    template <class Body>
    void for_ranges(std::size_t count, std::size_t, Body&& body) {
        for (std::size_t first = 0; first < count; first += step) {
            begin_range();
            body(first, std::min(first + step, count));
        }
    }
    void begin_range() noexcept { at_begin = true; }

    std::size_t step;
    bool at_begin = false;
};

TEST(columns_iteration, parts_of_a_loop_share_no_cache_line) {
    for (const std::size_t step : {1U, 2U, 5U}) {
        pool<columns<char, sized<3>, std::uint64_t, sized<100>>> rows({.name = "rows", .capacity = 1000});
        std::vector<decltype(rows)::handle_type> handles;
        rows.emplace_n(777, std::back_inserter(handles));
        rows.compact();
        range_recorder executor{step};
        std::size_t calls = 0;
        std::size_t ranges = 0;
        const auto lies_at_a_line = [](const auto& element) {
            return reinterpret_cast<std::uintptr_t>(&element) % 64 == 0;
        };
        rows.for_each(
            [&](char& one, sized<3>& three, std::uint64_t& eight, sized<100>& hundred) {
                ++calls;
                if (std::exchange(executor.at_begin, false)) {
                    ++ranges;
                    EXPECT_TRUE(lies_at_a_line(one) && lies_at_a_line(three) && lies_at_a_line(eight) &&
                                lies_at_a_line(hundred));
                }
            },
            executor);
        EXPECT_EQ(calls, 777U);
        EXPECT_EQ(ranges, (777 + 64 * step - 1) / (64 * step));
    }
}

class columns_in_parallel : public testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(sizes, columns_in_parallel,
                         testing::Values(0, 1, 63, 64, 65, 1023, 1024, 1025, 50'000));

TEST_P(columns_in_parallel, each_row_is_visited_once_with_its_own_elements) {
    pool<columns<std::uint32_t, char, std::uint64_t>> rows({.name = "rows", .capacity = 60'000});
    for (std::uint32_t i = 0; i != GetParam(); ++i) {
        rows.emplace(i, static_cast<char>(i), std::uint64_t{i} << 20);
    }
    thread_executor executor(3);
    rows.compact(executor);
    std::vector<int> visits(GetParam()); // plain: the executor orders them before the end of the loop
    rows.for_each<std::uint32_t, char, std::uint64_t>(
        [&](const std::uint32_t& number, char& low, std::uint64_t& high) {
            ++visits[number];
            low = static_cast<char>(low - static_cast<char>(number));
            high -= std::uint64_t{number} << 20;
        },
        executor);
    EXPECT_THAT(visits, testing::Each(1));
    EXPECT_THAT(rows.items<char>(), testing::Each('\0'));
    EXPECT_THAT(rows.items<std::uint64_t>(), testing::Each(0U));
    std::atomic<std::uint64_t> sum = 0;
    std::as_const(rows).for_each<std::uint32_t>([&](const std::uint32_t& number) { sum += number; },
                                                executor);
    EXPECT_EQ(sum, GetParam() == 0 ? 0 : GetParam() * (GetParam() - 1) / 2);
}

TEST(columns_iteration, a_parallel_body_may_erase_and_create) {
    pool<columns<std::uint32_t, char>> rows({.name = "rows", .capacity = 20'000});
    for (std::uint32_t i = 0; i != 10'000; ++i) {
        rows.emplace(i, 'o');
    }
    rows.compact();
    thread_executor executor(3);
    rows.for_each<const std::uint32_t>(
        [&](const std::uint32_t& number) {
            if (number % 2 == 0) {
                EXPECT_TRUE(rows.erase(rows.handle_of(number)));
                rows.emplace(number + 1, 'n');
            }
        },
        executor);
    expect_consistent_rows(rows);
    EXPECT_EQ(rows.size(), 10'000U);
    rows.for_each([](std::uint32_t number, char) { EXPECT_EQ(number % 2, 1U); });
}

TEST(columns_iteration, goes_over_the_rows_of_the_dense_store) {
    movers pool(ten);
    EXPECT_EQ(pool.begin(), pool.end());
    for (int i = 0; i != 3; ++i) {
        pool.emplace(position{static_cast<float>(i), 0}, health{i});
    }
    EXPECT_EQ(pool.begin(), pool.end()) << "newborns are not there yet";
    pool.compact();
    for (auto [where, speed, left] : pool) {
        where.y = where.x + 1;
        left.points *= 2;
    }
    std::vector<float> seen;
    for (const auto& [where, speed, left] : std::as_const(pool)) {
        static_assert(std::is_same_v<decltype(where), const position&>);
        seen.push_back(where.y);
    }
    EXPECT_THAT(seen, testing::ElementsAre(1, 2, 3));
    EXPECT_EQ(pool.items<health>()[2].points, 4);
    const auto second = std::next(pool.begin());
    EXPECT_EQ(second->get<health>().points, 2);
    EXPECT_EQ(&(*second).get<position>(), &pool.items<position>()[1]);
    auto next = second;
    EXPECT_EQ(next++, second);
    EXPECT_EQ(++next, pool.end());
}

TEST(columns_iteration, is_for_algorithms_that_exchange_nothing) {
    movers pool(ten);
    for (int i = 0; i != 5; ++i) {
        pool.emplace(health{i});
    }
    pool.compact();
    EXPECT_EQ(std::ranges::count_if(pool, [](movers::reference row) { return row.get<health>().points > 1; }),
              3);
    const auto found = std::ranges::find_if(
        std::as_const(pool), [](movers::const_reference row) { return row.get<health>().points == 3; });
    EXPECT_EQ(found->get<health>().points, 3);
    static_assert(std::input_iterator<movers::iterator> && std::input_iterator<movers::const_iterator>);
    static_assert(!std::forward_iterator<movers::iterator> && !std::sortable<movers::iterator>);
    static_assert(std::ranges::input_range<movers&> && !std::ranges::sized_range<movers&>);
}

} // namespace
} // namespace handlepool::test

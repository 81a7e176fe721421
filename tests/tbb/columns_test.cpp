// SPDX-License-Identifier: MIT
#include <handlepool/columns.hpp>
#include <handlepool/tbb/executor.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tbb/task_arena.h>
#include <tests/support/row_consistency.hpp>
#include <tests/support/tabulate.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace handlepool::test {
namespace {

TEST(tbb_columns_test, rows_are_compacted_and_visited_by_onetbb) {
    constexpr std::uint32_t count = 100'000;
    tbb::task_arena arena(3);
    const tbb_executor executor(arena);
    pool<columns<std::uint32_t, std::uint64_t>> rows({.name = "rows", .capacity = count});
    const auto handles =
        tabulate(count, [&](std::uint32_t i) { return rows.emplace(i, std::uint64_t{i} + 1); });
    rows.compact(executor);
    std::vector<int> visits(count); // plain: the executor orders them before the end of the loop
    rows.for_each<const std::uint32_t, std::uint64_t>(
        [&](const std::uint32_t& number, std::uint64_t& next) {
            ++visits[number];
            next -= number;
        },
        executor);
    EXPECT_THAT(visits, testing::Each(1));
    EXPECT_THAT(rows.items<std::uint64_t>(), testing::Each(1U));
    for (std::size_t i = 0; i < handles.size(); i += 3) {
        rows.erase(handles[i]);
    }
    EXPECT_EQ(rows.compact(executor).removed, handles.size() / 3 + 1);
    expect_consistent_rows(rows);
}

} // namespace
} // namespace handlepool::test

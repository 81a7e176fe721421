// SPDX-License-Identifier: MIT

#include <handlepool/detail/marks/bit_set.hpp>
#include <handlepool/detail/marks/written_positions.hpp>
#include <handlepool/policy.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using written_type = detail::written_positions<default_policy>;
using written_run = std::pair<std::size_t, std::size_t>;
constexpr std::size_t any = written_type::any_column;

/// What two frames have written.
std::vector<written_run> runs_of(const written_type& one, const written_type& other, std::size_t column,
                                 std::size_t gap = 0) {
    std::vector<written_run> runs;
    written_type::for_each_joined_run(
        2, [&](std::size_t i) -> const written_type& { return i == 0 ? one : other; }, column, gap,
        [&](std::size_t first, std::size_t last) { runs.emplace_back(first, last); });
    return runs;
}

TEST(written_positions, are_those_of_all_columns_or_of_one) {
    written_type one("test", 10'000, 2);
    written_type other("test", 10'000, 2);
    one.insert(7);
    one.insert(8, 0);
    other.insert(9, 1);
    other.insert(5'000);
    EXPECT_THAT(runs_of(one, other, any), ElementsAre(written_run{7, 10}, written_run{5'000, 5'001}));
    EXPECT_THAT(runs_of(one, other, 0), ElementsAre(written_run{7, 9}, written_run{5'000, 5'001}));
    EXPECT_THAT(runs_of(one, other, 1),
                ElementsAre(written_run{7, 8}, written_run{9, 10}, written_run{5'000, 5'001}));
    EXPECT_THAT(runs_of(one, other, 1, 1), ElementsAre(written_run{7, 10}, written_run{5'000, 5'001}));
    EXPECT_TRUE(one.contains(8, any));
    EXPECT_TRUE(one.contains(8, 0));
    EXPECT_FALSE(one.contains(8, 1));
    EXPECT_TRUE(one.contains(7, 1));
    EXPECT_FALSE(one.contains(9, any));
    detail::bit_set<default_policy> more("test", 10'000);
    more.insert(60);
    more.insert(5'001);
    one.insert_all(more);
    EXPECT_THAT(runs_of(one, other, any),
                ElementsAre(written_run{7, 10}, written_run{60, 61}, written_run{5'000, 5'002}));
    EXPECT_THAT(runs_of(one, other, 0),
                ElementsAre(written_run{7, 9}, written_run{60, 61}, written_run{5'000, 5'002}));
    one.clear();
    other.clear();
    EXPECT_THAT(runs_of(one, other, any), IsEmpty());
    EXPECT_THAT(runs_of(one, other, 0), IsEmpty());
    EXPECT_THAT(runs_of(one, other, 1), IsEmpty());
}

TEST(written_positions, are_those_of_the_whole_where_columns_are_not_told_apart) {
    written_type one("test", 100, 0);
    const written_type other("test", 100, 0);
    one.insert(7);
    EXPECT_THAT(runs_of(one, other, any), ElementsAre(written_run{7, 8}));
    EXPECT_THAT(runs_of(one, other, 1), ElementsAre(written_run{7, 8}));
    EXPECT_TRUE(one.contains(7, 1));
    EXPECT_FALSE(one.contains(8, 1));
    EXPECT_LT(one.memory().reserved, written_type("test", 100, 1).memory().reserved);
}

} // namespace
} // namespace handlepool::test

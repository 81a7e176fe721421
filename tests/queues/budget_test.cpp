// SPDX-License-Identifier: MIT
#include <handlepool/detail/queues/budget.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

namespace handlepool::test {
namespace {

using namespace detail;
using amounts = std::vector<std::size_t>;

/// What each gets of a budget, beginning with one of them. `wanted(i)` is asked again and again.
template <class Wanted>
amounts shared(std::size_t count, std::size_t budget, Wanted wanted, std::size_t first = 0) {
    amounts taken(count);
    fair_budget(budget, first)
        .divide(
            count, [&](std::size_t i, std::size_t most) { return std::min<std::size_t>(wanted(i), most); },
            [&](std::size_t i, std::size_t most) { taken[i] = most; });
    return taken;
}
amounts shared(const amounts& wanted, std::size_t budget, std::size_t first = 0) {
    return shared(wanted.size(), budget, [&](std::size_t i) { return wanted[i]; }, first);
}

TEST(fair_budget, gives_each_what_it_wants_or_an_equal_share) {
    EXPECT_EQ(shared({5, 0, 7}, 100), (amounts{5, 0, 7}));
    EXPECT_EQ(shared({50, 50}, 20), (amounts{10, 10}));
    EXPECT_EQ(shared({2, 50, 0}, 20), (amounts{2, 18, 0}));
    EXPECT_EQ(shared({50, 2, 0}, 20), (amounts{18, 2, 0}));
    EXPECT_EQ(shared({50, 50}, 0), (amounts{0, 0}));
}

TEST(fair_budget, divides_as_its_comment_says) {
    EXPECT_EQ(shared({2, 9, 9}, 10), (amounts{2, 5, 3}));
}

TEST(fair_budget, begins_with_another_where_there_is_less_than_one_for_each) {
    EXPECT_EQ(shared({9, 9, 9}, 1, 0), (amounts{1, 0, 0}));
    EXPECT_EQ(shared({9, 9, 9}, 1, 1), (amounts{0, 1, 0}));
    EXPECT_EQ(shared({9, 9, 9}, 1, 5), (amounts{0, 0, 1}));
}

TEST(fair_budget, takes_no_more_than_the_budget_when_they_want_more_each_time_they_are_asked) {
    for (const std::size_t count : {1U, 3U, 40U}) {
        for (const std::size_t budget : {1U, 10U, 1000U}) {
            for (const std::size_t quiet : {0U, 1U, 20U, 50U}) { // questions before the first wants something
                std::size_t asked = 0;
                const amounts taken = shared(count, budget, [&](std::size_t) {
                    return ++asked <= quiet ? std::size_t{0} : asked * asked;
                });
                EXPECT_LE(std::accumulate(taken.begin(), taken.end(), std::size_t{0}), budget)
                    << count << " things, budget " << budget << ", quiet for " << quiet;
            }
        }
    }
}

TEST(fair_budget, gives_nobody_more_than_others_because_some_did_not_want_any_at_first) {
    std::size_t asked = 0;
    EXPECT_EQ(shared(4, 10, [&](std::size_t) { return ++asked <= 2 ? std::size_t{0} : std::size_t{100}; }),
              (amounts{5, 5, 0, 0}));
}

} // namespace
} // namespace handlepool::test

// SPDX-License-Identifier: MIT

// Lives that memory is missing for are said to be missing, and the pool goes on; those of a delta that could
// not be written are in the next one.

#include <handlepool/pool.hpp>
#include <handlepool/snapshots/delta_recorder.hpp>
#include <handlepool/snapshots/told_lives.hpp>

#include <gtest/gtest.h>
#include <tests/support/failing_new.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace handlepool::test {
namespace {

class told_lives_memory : public testing::TestWithParam<shortage> {
protected:
    pool<int> ships{{.name = "ships", .capacity = 1000, .record_lives = 2}};
    delta_recorder changes;
};
INSTANTIATE_TEST_SUITE_P(all, told_lives_memory, both_shortages, name_of_shortage);

TEST_P(told_lives_memory, are_in_the_next_delta_when_one_can_not_be_written) {
    changes.add_lives("lives", ships);
    changes.begin(0);
    int call = 0;
    const std::size_t failures = with_each_allocation_failing(GetParam(), [&](memory_shortage& when) {
        const scoped_site here("call " + std::to_string(++call));
        const scoped_task task("task " + std::to_string(call));
        ships.erase(ships.emplace(1));
        ships.compact();
        std::vector<std::byte> delta(3);
        if (when.hits([&] { changes.append(1, delta); })) {
            ASSERT_EQ(delta.size(), 3U);
            return;
        }
        delta.erase(delta.begin(), delta.begin() + 3);
        const told_lives told = read_lives(delta).at(0);
        EXPECT_FALSE(told.some_are_missing);
        ASSERT_EQ(told.lives.size(), static_cast<std::size_t>(call));
        for (int i = 0; i != call; ++i) {
            const told_event& end = *told.lives[static_cast<std::size_t>(i)].end;
            EXPECT_EQ(end.site, "call " + std::to_string(i + 1));
            EXPECT_EQ(end.task, "task " + std::to_string(i + 1));
            EXPECT_EQ(end.frames_ago, 0U);
        }
    });
    EXPECT_GT(failures, 3U);
}

TEST_P(told_lives_memory, are_missing_when_they_can_not_be_noted) {
    changes.add_lives("lives", ships);
    changes.begin(0);
    std::size_t missed = 0;
    const std::size_t failures = with_each_allocation_failing(GetParam(), [&](memory_shortage& when) {
        for (int i = 0; i != 100; ++i) {
            ships.emplace(i);
        }
        when.interrupts([&] { ships.compact(); });
        ASSERT_EQ(ships.size(), 100U);
        ships.clear();
        ships.compact();
        std::vector<std::byte> delta;
        changes.append(*changes.frame() + 1, delta);
        const told_lives told = read_lives(delta).at(0);
        EXPECT_EQ(told.some_are_missing, told.lives.size() != 200);
        missed += told.some_are_missing ? 1U : 0U;
    });
    EXPECT_GT(failures, 0U);
    EXPECT_GT(missed, 0U);
}

TEST_P(told_lives_memory, change_nothing_when_they_can_not_be_added_or_read) {
    with_each_allocation_failing(GetParam(), [&](memory_shortage& when) {
        delta_recorder others;
        when.hits([&] { others.add_lives("lives", ships); });
        others.begin(0);
    });
    changes.add_lives("lives", ships);
    ships.emplace(1);
    changes.begin(0);
    ships.compact();
    std::vector<std::byte> delta;
    changes.append(1, delta);
    const std::size_t failures = with_each_allocation_failing(
        GetParam(), [&](memory_shortage& when) { when.hits([&] { read_lives(delta); }); });
    EXPECT_GT(failures, 2U);
    EXPECT_FALSE(read_lives(delta).at(0).lives.empty());
}

} // namespace
} // namespace handlepool::test

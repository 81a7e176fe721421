// SPDX-License-Identifier: MIT

#include <handlepool/detail/marks/bit_set.hpp>
#include <handlepool/policy.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tests/support/random.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <set>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::IsEmpty;
using bits = detail::bit_set<default_policy>;
using run = std::pair<std::size_t, std::size_t>;

std::vector<std::size_t> numbers_of(const bits& set) {
    std::vector<std::size_t> numbers;
    set.for_each([&](std::size_t number) { numbers.push_back(number); });
    return numbers;
}

template <std::size_t Count>
std::vector<run> joined_runs(const std::array<const bits*, Count>& sets, std::size_t gap) {
    std::vector<run> runs;
    bits::for_each_joined_run(
        Count, [&](std::size_t i) -> const bits& { return *sets[i]; }, gap,
        [&](std::size_t first, std::size_t last) { runs.emplace_back(first, last); });
    return runs;
}

TEST(bit_set, has_what_was_inserted) {
    bits set("test", 10'000);
    EXPECT_TRUE(set.empty());
    for (const std::size_t number : {9'999UL, 0UL, 64UL, 63UL, 4'096UL}) {
        set.insert(number);
        set.insert(number);
    }
    EXPECT_FALSE(set.empty());
    EXPECT_THAT(numbers_of(set), ElementsAre(0, 63, 64, 4'096, 9'999));
    EXPECT_TRUE(set.contains(64));
    EXPECT_FALSE(set.contains(65));
    set.erase(64);
    set.erase(65);
    EXPECT_THAT(numbers_of(set), ElementsAre(0, 63, 4'096, 9'999));
    set.clear();
    EXPECT_TRUE(set.empty());
    EXPECT_THAT(numbers_of(set), IsEmpty());
    set.insert(64); // the word's group was cleared too
    EXPECT_THAT(numbers_of(set), ElementsAre(64));
    set.erase(64);
    EXPECT_TRUE(set.empty());
}

TEST(bit_set, ranges_are_their_numbers) {
    random_source random;
    for (int round = 0; round != 300; ++round) {
        bits set("test", 700);
        std::set<std::size_t> expected;
        for (int i = 0; i != 3; ++i) {
            const std::size_t first = random.below(700);
            const std::size_t last = first + random.below(701 - first);
            set.insert_range(first, last);
            for (std::size_t number = first; number != last; ++number) {
                expected.insert(number);
            }
        }
        ASSERT_THAT(numbers_of(set), ElementsAreArray(expected));
        bits others("test", 700);
        others.insert(random.below(700));
        others.for_each([&](std::size_t number) { expected.insert(number); });
        set.insert_all(others);
        ASSERT_THAT(numbers_of(set), ElementsAreArray(expected));
    }
    bits none("test", 700);
    none.insert_range(70, 70);
    none.insert_range(70, 60);
    EXPECT_TRUE(none.empty());
}

TEST(bit_set, numbers_near_each_other_are_inserted_like_others) {
    random_source random;
    for (int round = 0; round != 300; ++round) {
        bits set("test", 9'000);
        std::set<std::size_t> expected;
        if (random.below(2) == 0) { // others are there
            set.insert(4'100);
            expected.insert(4'100);
        }
        {
            bits::near_inserter near(set);
            std::size_t number = random.below(9'000);
            for (std::size_t i = random.below(200); i != 0; --i) {
                near.insert(number);
                expected.insert(number);
                number = random.below(10) == 0 ? random.below(9'000) : (number + random.below(5)) % 9'000;
            }
        }
        ASSERT_THAT(numbers_of(set), ElementsAreArray(expected));
    }
}

TEST(bit_set, runs_of_several_sets_are_joined) {
    bits one("test", 9'000);
    bits other("test", 9'000);
    one.insert_range(10, 20);
    other.insert_range(20, 22);
    other.insert(25);
    one.insert_range(60, 70);
    other.insert_range(8'000, 9'000);
    EXPECT_THAT(joined_runs<0>({}, 0), IsEmpty());
    EXPECT_THAT(joined_runs<1>({&one}, 0), ElementsAre(run{10, 20}, run{60, 70}));
    EXPECT_THAT(joined_runs<2>({&one, &other}, 0),
                ElementsAre(run{10, 22}, run{25, 26}, run{60, 70}, run{8'000, 9'000}));
    EXPECT_THAT(joined_runs<2>({&one, &other}, 2),
                ElementsAre(run{10, 22}, run{25, 26}, run{60, 70}, run{8'000, 9'000}));
    EXPECT_THAT(joined_runs<2>({&one, &other}, 3), ElementsAre(run{10, 26}, run{60, 70}, run{8'000, 9'000}));
    EXPECT_THAT(joined_runs<2>({&one, &other}, 34), ElementsAre(run{10, 70}, run{8'000, 9'000}));
    EXPECT_THAT(joined_runs<2>({&one, &other}, 9'000), ElementsAre(run{10, 9'000}));
}

TEST(bit_set, may_have_no_numbers) {
    bits set("test", 0);
    EXPECT_TRUE(set.empty());
    set.clear();
    EXPECT_THAT(joined_runs<1>({&set}, 0), IsEmpty());
}

} // namespace
} // namespace handlepool::test

// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <tools/inspect/pool_growth.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace handlepool::inspect_tool {
namespace {

/// What is said after so many looks, in each of which there are as many objects as `alive` says.
std::optional<double> growth_of(int looks, double seconds_between,
                                const std::function<std::uint64_t(int)>& alive) {
    pool_growth growth;
    for (int i = 0; i != looks; ++i) {
        growth.add(100 + i * seconds_between, alive(i));
    }
    return growth.per_second();
}

std::uint64_t leak(int look) {
    return 1000 + 5 * static_cast<std::uint64_t>(look);
}

TEST(pool_growth, is_known_after_twenty_looks_in_two_seconds) {
    EXPECT_EQ(growth_of(0, 1, leak), std::nullopt);
    EXPECT_EQ(growth_of(19, 1, leak), std::nullopt);
    EXPECT_EQ(growth_of(20, 1, leak), 5.0);
    EXPECT_EQ(growth_of(20, 0.1, leak), std::nullopt); // 1.9 seconds
    EXPECT_DOUBLE_EQ(growth_of(22, 0.1, leak).value(), 50.0);
    EXPECT_EQ(growth_of(25, 0.0, leak), std::nullopt);
}

TEST(pool_growth, of_looks_that_are_far_apart_is_known_all_the_same) {
    EXPECT_DOUBLE_EQ(growth_of(20, 100, leak).value(), 0.05);
    EXPECT_DOUBLE_EQ(growth_of(200, 100, leak).value(), 0.05);
}

TEST(pool_growth, is_none_of_objects_that_come_and_go) {
    EXPECT_EQ(growth_of(40, 1, [](int) { return 7; }), 0.0);
    EXPECT_EQ(growth_of(40, 1, [](int i) { return 100 - static_cast<std::uint64_t>(i); }), 0.0);
    for (int length = 2; length != 10; ++length) { // each quarter has a whole wave
        EXPECT_EQ(growth_of(40, 1, [&](int i) { return 100 + static_cast<std::uint64_t>(i % length); }), 0.0)
            << length;
    }
    EXPECT_EQ(growth_of(40, 1, [](int) { return 0; }), 0.0);
}

TEST(pool_growth, is_none_of_objects_that_were_fewer_in_between) {
    for (const std::vector<std::uint64_t>& least :
         {std::vector<std::uint64_t>{20, 10, 30, 40}, {10, 30, 20, 40}, {10, 20, 40, 30}, {10, 20, 20, 30}}) {
        const auto alive = [&least](int i) { return least[static_cast<std::size_t>(i / 10)]; };
        EXPECT_EQ(growth_of(40, 1, alive), 0.0);
    }
}

TEST(pool_growth, shows_through_objects_that_come_and_go) {
    const auto wave = [](int i) { return static_cast<std::uint64_t>(2 * i + (i % 5) * 20); };
    for (int looks = 20; looks != 100; ++looks) { // wherever it ends
        EXPECT_NEAR(growth_of(looks, 1, wave).value(), 2.0, 0.7) << looks;
    }
}

TEST(pool_growth, is_hidden_by_a_peak_for_a_quarter_of_the_looks_at_most) {
    const auto leak_with_peak = [](int i) { return static_cast<std::uint64_t>(i == 15 ? 5000 : 100 + i); };
    EXPECT_EQ(growth_of(30, 1, leak_with_peak), 0.0);
    EXPECT_GT(growth_of(32, 1, leak_with_peak), 0.9);
}

TEST(pool_growth, is_none_when_it_has_stopped) {
    const auto fills = [](int i) { return static_cast<std::uint64_t>(std::min(i, 25)); };
    EXPECT_EQ(growth_of(26, 1, fills), 1.0);
    EXPECT_EQ(growth_of(40, 1, fills), 0.0); // the last quarter has no more than the third
    const auto falls_back = [](int i) { return static_cast<std::uint64_t>(i == 39 ? 20 : i); };
    EXPECT_EQ(growth_of(40, 1, falls_back), 0.0);
}

TEST(pool_growth, is_that_of_the_last_minute) {
    // Sixty looks that grew are behind as many that did not, and the other way round.
    EXPECT_EQ(growth_of(130, 1, [](int i) { return static_cast<std::uint64_t>(std::min(i, 60)); }), 0.0);
    EXPECT_EQ(growth_of(130, 1, [](int i) { return static_cast<std::uint64_t>(std::max(i, 60)); }), 1.0);
}

struct growth_of_pools_test : testing::Test {
    /// Looks at pools of one program, and says what is told of each.
    std::vector<std::optional<double>> look(std::vector<pool_report> pools) {
        seconds += 1;
        for (pool_report& each : pools) {
            each.counts.at = static_cast<std::uint64_t>(seconds * 1e9);
        }
        std::vector<program_report> reports(1);
        reports[0].pools = std::move(pools);
        growth.tell(reports);
        std::vector<std::optional<double>> told;
        for (const pool_report& each : reports[0].pools) {
            told.push_back(each.growth);
        }
        return told;
    }
    pool_report pool(const int& place, std::uint64_t number, std::uint64_t alive) {
        pool_report made;
        made.listed.core = &place;
        made.listed.number = number;
        made.counts.alive = alive;
        return made;
    }

    growth_of_pools growth;
    double seconds = 0;
    int places[2] = {};
};

using told = std::vector<std::optional<double>>;

TEST_F(growth_of_pools_test, tells_that_of_each) {
    for (std::uint64_t i = 1; i != 20; ++i) {
        EXPECT_EQ(look({pool(places[0], 1, 10 * i), pool(places[1], 2, 50)}), told(2));
    }
    EXPECT_EQ(look({pool(places[0], 1, 200), pool(places[1], 2, 50)}), (told{10.0, 0.0}));
    EXPECT_EQ(look({pool(places[1], 2, 50), pool(places[0], 1, 210)}), (told{0.0, 10.0}));
}

TEST_F(growth_of_pools_test, begins_anew_with_another_pool_in_the_same_place) {
    for (std::uint64_t i = 1; i != 21; ++i) {
        look({pool(places[0], 1, 10 * i)});
    }
    EXPECT_EQ(look({pool(places[0], 1, 210)}), told{10.0});
    EXPECT_EQ(look({pool(places[0], 2, 220)}), told(1));
}

TEST_F(growth_of_pools_test, knows_pools_of_other_processes_and_copies_in_the_same_place) {
    const auto told_of_both = [this](std::uint64_t alive, std::uint64_t of_other, int process,
                                     std::size_t copy) {
        seconds += 1;
        std::vector<program_report> reports(2);
        reports[1].process = process;
        reports[1].copy = copy;
        reports[0].pools = {pool(places[0], 1, alive)};
        reports[1].pools = {pool(places[0], 1, of_other)};
        for (program_report& each : reports) {
            each.pools[0].counts.at = static_cast<std::uint64_t>(seconds * 1e9);
        }
        growth.tell(reports);
        return told{reports[0].pools[0].growth, reports[1].pools[0].growth};
    };
    for (const auto& [process, copy] : {std::pair(1, std::size_t{0}), std::pair(0, std::size_t{1})}) {
        for (std::uint64_t i = 1; i != 20; ++i) {
            EXPECT_EQ(told_of_both(10 * i, 7, process, copy), told(2));
        }
        EXPECT_EQ(told_of_both(200, 7, process, copy), (told{10.0, 0.0}));
        look({});
    }
}

TEST_F(growth_of_pools_test, forgets_pools_that_are_not_told_of) {
    for (std::uint64_t i = 1; i != 21; ++i) {
        look({pool(places[0], 1, 10 * i)});
    }
    look({});
    EXPECT_EQ(look({pool(places[0], 1, 220)}), told(1));
}

} // namespace
} // namespace handlepool::inspect_tool

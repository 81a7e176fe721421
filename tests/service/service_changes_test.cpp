// SPDX-License-Identifier: MIT

#include <handlepool/pool.hpp>
#include <handlepool/service.hpp>
#include <handlepool/time/change_log.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <iterator>
#include <vector>

namespace handlepool::test {
namespace {

TEST(service_changes, a_log_hears_of_the_services_frames_also_where_nothing_happens) {
    service all;
    auto& ships = all.add<pool<int>>("ships", {.capacity = 10});
    change_log log(ships);
    const auto ship = ships.emplace(1);
    all.compact();
    EXPECT_EQ(log.changes_since(0)->front().born.size(), 1U);
    log.mark(ship);
    all.compact();
    EXPECT_EQ(log.changes_since(1)->front().edited.size(), 1U);
    all.compact();
    EXPECT_EQ(log.frame(), 3U);
}

TEST(service_changes, records_of_lives_hear_of_frames_in_which_nothing_happens) {
    service all;
    auto& ships = all.add<pool<int>>("ships", {.capacity = 10, .record_lives = 2});
    const auto ship = ships.emplace(1);
    all.compact();
    ships.erase(ship);
    for (int i = 0; i != 4; ++i) {
        all.compact();
    }
    const recorded_life life = ships.life_of(ship);
    EXPECT_EQ(life.end->frames_ago, 4U);
    EXPECT_EQ(life.beginning->frames_ago, 5U);
}

TEST(service_changes, a_log_hears_of_frames_whose_budget_others_use_up) {
    service all;
    auto& busy = all.add<pool<int>>("busy", {.capacity = 100});
    auto& quiet = all.add<pool<int>>("quiet", {.capacity = 10});
    std::vector<handle<int>> handles;
    change_log log(quiet);
    const auto one = quiet.emplace(1);
    all.compact();
    std::uint64_t frame = log.frame();
    for (int i = 0; i != 4; ++i) { // of two pools, either one gets nothing at times
        busy.emplace_n(10, std::back_inserter(handles), 1);
        ++*log.edit(one);
        all.compact_some(1);
        EXPECT_EQ(log.frame(), ++frame);
    }
}

TEST(service_changes, exclusive_access_ends_beside_a_log) {
    service all;
    auto& ships = all.add<pool<int>>("ships", {.capacity = 10});
    change_log log(ships);
    ships.emplace(1);
    {
        auto alone = all.exclusive_access();
        alone.view_of(ships).emplace(2);
    }
    EXPECT_GE(log.frame(), 1U);
    EXPECT_EQ(ships.size(), 2U);
}

} // namespace
} // namespace handlepool::test

// SPDX-License-Identifier: MIT

#include <handlepool/pool.hpp>
#include <handlepool/service.hpp>
#include <handlepool/time/change_log.hpp>

#include <gtest/gtest.h>

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

} // namespace
} // namespace handlepool::test

// SPDX-License-Identifier: MIT

// States, revoked and reserved handles, user bits and narrow layouts, through a service.

#include <handlepool/pool.hpp>
#include <handlepool/raw_pool.hpp>
#include <handlepool/service.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace handlepool::test {
namespace {

using testing::HasSubstr;
using marked_layout = handle_layout<24, 20, 9, 11>;

TEST(user_bits_of_a_service, pass_through_a_service) {
    basic_service<marked_layout> service;
    auto& ships = service.add<pool<int, with_layout<marked_layout>>>("ships", {.capacity = 10});
    auto& rockets = service.add<raw_pool<with_layout<marked_layout>>>("rockets", {.capacity = 10},
                                                                      raw_type{.size = 4, .alignment = 4});
    const handle<void, marked_layout> ship = ships.emplace(7).with_user(5);
    const auto rocket = rockets.emplace().with_user(6);
    EXPECT_EQ(service.route(ship)->name(), "ships");
    EXPECT_EQ(service.route(rocket)->name(), "rockets");
    EXPECT_EQ(service.route(handle<void, marked_layout>().with_user(5)), nullptr);
    EXPECT_EQ(service.handle_cast<int>(ship).user(), 5U);
    EXPECT_EQ(service.handle_cast<int>(rocket), (handle<int, marked_layout>()));
    EXPECT_EQ(*service.find<int>(ship), 7);
    EXPECT_TRUE(service.contains(rocket));
    EXPECT_EQ(service.state(ship), handle_state::alive);
    EXPECT_EQ(service.describe(handle<void, marked_layout>().with_user(5)), "null");
    EXPECT_THAT(service.describe(ship),
                HasSubstr("ships #0 generation " + std::to_string(ship.generation()) + ": alive"));
    EXPECT_TRUE(service.erase(ship));
    EXPECT_TRUE(service.erase(rocket));
    service.compact();
    EXPECT_EQ(service.state(ship), handle_state::stale);
}

TEST(service_handles, have_a_state_and_can_be_cancelled_and_revoked) {
    service service;
    auto& ships = service.add<pool<std::uint64_t>>("ships", {.capacity = 10});
    auto& rockets = service.add<raw_pool<>>("rockets", {.capacity = 10}, raw_type{.size = 8, .alignment = 8});
    const any_handle reserved = ships.reserve_handle();
    const any_handle cancelled = rockets.reserve_handle();
    EXPECT_EQ(service.state(reserved), handle_state::reserved);
    EXPECT_FALSE(service.contains(reserved));
    EXPECT_THAT(service.describe(reserved), HasSubstr("reserved, no object yet"));
    EXPECT_TRUE(service.cancel(cancelled));
    EXPECT_FALSE(service.cancel(cancelled));
    EXPECT_EQ(service.state(cancelled), handle_state::stale);
    ships.fulfill(service.handle_cast<std::uint64_t>(reserved), 7U);
    EXPECT_EQ(service.state(reserved), handle_state::alive);
    const any_handle now = service.revoke(reserved);
    EXPECT_FALSE(service.contains(reserved));
    EXPECT_EQ(*service.find<std::uint64_t>(now), 7U);
    EXPECT_TRUE(service.find_any_pool("ships")->contains(now));
    EXPECT_EQ(service.find_any_pool("ships")->state(now), handle_state::alive);
    EXPECT_EQ(service.stats().pools[0].slots_reserved, 0U);
    EXPECT_EQ(service.state({}), handle_state::stale);
    EXPECT_FALSE(service.revoke({}));
    EXPECT_FALSE(service.cancel({}));
    EXPECT_FALSE(service.revoke(reserved));
}

TEST(service_handles, of_32_bits_are_routed_to_their_pools) {
    using layout = handle_layout<16, 12, 4>;
    basic_service<layout> service;
    auto& ships = service.add<pool<int, with_layout<layout>>>("ships", {.capacity = 1000, .max_threads = 16});
    auto& rockets = service.add<raw_pool<with_layout<layout>>>(
        "rockets", {.capacity = 100, .max_threads = 16}, raw_type{.size = 4, .alignment = 4});
    std::vector<handle<void, layout>> all;
    for (int i = 0; i != 1000; ++i) {
        all.push_back(ships.emplace(i));
    }
    all.push_back(rockets.emplace());
    static_assert(sizeof(all[0]) == 4);
    EXPECT_EQ(service.compact().born, 1001U);
    for (int i = 0; i != 1000; ++i) {
        ASSERT_EQ(*service.find<int>(all[static_cast<std::size_t>(i)]), i);
    }
    EXPECT_EQ(service.name_of(all.back()), "rockets");
    for (const auto each : all) {
        EXPECT_TRUE(service.erase(each));
        EXPECT_FALSE(service.contains(each));
    }
    EXPECT_EQ(service.compact().removed, 1001U);
}

} // namespace
} // namespace handlepool::test

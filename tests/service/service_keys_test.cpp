// SPDX-License-Identifier: MIT

// Pools of any type in a service, such as those with keys, and hooks through it.

#include <handlepool/raw_pool.hpp>
#include <handlepool/recycling_pool.hpp>
#include <handlepool/service.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace handlepool::test {
namespace {

using testing::ElementsAre;

using port_layout = keyed_layout<struct ports>;
using port_pool = pool<int, with_layout<port_layout>>;
using port_handle = port_pool::handle_type;

TEST(service_keys, pools_with_keys_are_added_and_found_by_their_type) {
    service world;
    auto& ports = world.add<port_pool>("ports", {.capacity = 10});
    static_assert(std::is_same_v<decltype(ports), port_pool&>);
    auto& plain = world.add<pool<int>>("plain", {.capacity = 10});
    EXPECT_EQ(world.find_any_pool("ports")->as<port_pool>(), &ports);
    EXPECT_EQ(world.find_any_pool("ports")->as<pool<int>>(), nullptr);
    EXPECT_EQ(world.find_pool<pool<int>>("ports"), nullptr) << "that is one without a key";
    EXPECT_EQ(world.find_pool<pool<int>>("plain"), &plain);
    EXPECT_THROW(world.add<port_pool>("ports"), std::invalid_argument);
    std::string error;
    EXPECT_EQ(world.try_add<port_pool>("ports", {}, error), nullptr);
    EXPECT_THAT(error, testing::HasSubstr("ports"));
    auto& raw = world.add<raw_pool<with_layout<port_layout>>>("raw", {.capacity = 10},
                                                              raw_type{.size = 4, .alignment = 4});
    EXPECT_TRUE(world.contains(raw.emplace()));
}

TEST(service_keys, handles_are_routed_and_get_their_key_back) {
    service world;
    auto& ports = world.add<port_pool>("ports", {.capacity = 10});
    auto& plain = world.add<pool<int>>("plain", {.capacity = 10});
    const port_handle port = ports.emplace(7);
    const handle<int> other = plain.emplace(8);
    EXPECT_TRUE(world.contains(port));
    EXPECT_EQ(*world.find<int>(port), 7);
    EXPECT_EQ(world.name_of(port), "ports");
    const any_handle untyped = port;
    EXPECT_EQ((world.handle_cast<int, port_layout>(untyped)), port);
    EXPECT_EQ((world.handle_cast<const int, port_layout>(untyped).value()), port.value());
    EXPECT_FALSE(world.handle_cast<int>(untyped)) << "its handles have a key";
    EXPECT_FALSE((world.handle_cast<int, port_layout>(other)));
    EXPECT_FALSE((world.handle_cast<long, port_layout>(untyped)));
    EXPECT_EQ(world.handle_cast<int>(other), other);
    EXPECT_EQ(world.route(port)->oldest(1), std::vector{untyped});
    EXPECT_TRUE(world.erase(port));
    EXPECT_FALSE(ports.contains(port));
    EXPECT_EQ(world.compact().removed, 1U);
}

TEST(service_keys, the_services_compaction_delivers_what_was_taken_and_removed_pools_do_so_too) {
    service world;
    auto& ports = world.add<port_pool>("ports", {.capacity = 10});
    std::vector<int> taken;
    const auto sink = [&](int&& object) { taken.push_back(object); };
    ports.extract(ports.emplace(1), sink);
    EXPECT_EQ(world.compact().pools, 1U) << "it isn't idle";
    EXPECT_THAT(taken, ElementsAre(1));
    ports.extract(ports.emplace(2), sink);
    world.remove_pool("ports");
    world.compact();
    EXPECT_THAT(taken, ElementsAre(1, 2));
}

TEST(service_hooks, for_births_and_ends_can_be_taken_off) {
    service world;
    auto& ports = world.add<port_pool>("ports", {.capacity = 10});
    std::vector<std::string> calls;
    auto births = ports.on_birth([&](port_handle, int&) { calls.emplace_back("birth"); });
    auto ends = ports.on_destroy([&](port_handle, int&) { calls.emplace_back("end"); });
    auto any_births = world.find_any_pool("ports")->on_birth([&](any_handle handle, void* object) {
        EXPECT_EQ(world.find<int>(handle), object);
        calls.emplace_back("any birth");
    });
    auto any_ends =
        world.find_any_pool("ports")->on_destroy([&](any_handle, void*) { calls.emplace_back("any end"); });
    const auto live_and_die = [&] {
        const auto one = ports.emplace(1);
        world.compact();
        ports.erase(one);
        world.compact();
    };
    live_and_die();
    EXPECT_THAT(calls, ElementsAre("birth", "any birth", "end", "any end"));
    births.disconnect();
    any_ends.disconnect();
    live_and_die();
    EXPECT_THAT(calls, ElementsAre("birth", "any birth", "end", "any end", "any birth", "end"));
}

TEST(service_keys, pools_of_other_placements_are_added_like_those_with_keys) {
    using recycled = recycling_pool<std::string>;
    service world;
    auto& names = world.add<recycled>("names", {.capacity = 10});
    const auto made = names.emplace("first");
    world.compact();
    EXPECT_TRUE(world.erase(made));
    world.compact();
    EXPECT_FALSE(world.contains(made));
    EXPECT_EQ(world.find_any_pool("names")->as<recycled>(), &names);
}

} // namespace
} // namespace handlepool::test

// SPDX-License-Identifier: MIT
#include <handlepool/detail/service/any_pool_adaptor.hpp>
#include <handlepool/detail/service/pool_directory.hpp>
#include <handlepool/fwd.hpp>
#include <handlepool/policy.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/pool_options.hpp>

#include <gtest/gtest.h>

namespace handlepool::test {
namespace {

using namespace detail;

TEST(route_table_test, leads_from_a_handle_to_its_pool_while_that_is_in_the_table) {
    route_table<default_layout, default_policy> routes("routes");
    any_pool_adaptor<pool<int>> ships(pool_options{.capacity = 10});
    any_pool_adaptor<pool<int>> rocks(pool_options{.capacity = 10});
    const any_handle ship = ships.get().emplace(1);
    const any_handle rock = rocks.get().emplace(2);
    EXPECT_EQ(routes.find(ship), nullptr);

    routes.add(ships);
    routes.add(rocks);
    EXPECT_EQ(routes.find(ship), &ships);
    EXPECT_EQ(routes.find(rock), &rocks);
    ships.clear(); // whether the object lives does not matter
    EXPECT_EQ(routes.find(ship), &ships);

    routes.remove(ships);
    EXPECT_EQ(routes.find(ship), nullptr);
    EXPECT_EQ(routes.find(rock), &rocks);
}

} // namespace
} // namespace handlepool::test

// SPDX-License-Identifier: MIT

// Layouts with keys: handles of different pools of the same objects don't mix.

#include <handlepool/fmt.hpp>
#include <handlepool/handle.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/raw_pool.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <tests/support/consistency.hpp>

#include <functional>
#include <type_traits>
#include <unordered_map>
#include <vector>

namespace handlepool::test {
namespace {

using ship_layout = keyed_layout<struct ships>;
using shell_layout = keyed_layout<struct shells>;
using ship_pool = pool<int, with_layout<ship_layout>>;
using shell_pool = pool<int, with_layout<shell_layout>>;
using ship_handle = ship_pool::handle_type;
using shell_handle = shell_pool::handle_type;

template <class Pool, class Handle>
concept accepts = requires(Pool& in, Handle handle) { in.contains(handle); } ||
                  requires(Pool& in, Handle handle) { in.find(handle); } ||
                  requires(Pool& in, Handle handle) { in.erase(handle); } ||
                  requires(Pool& in, std::vector<Handle> handles) { in.erase(handles); };

static_assert(accepts<ship_pool, ship_handle> && accepts<shell_pool, shell_handle>);
static_assert(!accepts<ship_pool, shell_handle> && !accepts<shell_pool, ship_handle>);
static_assert(!accepts<ship_pool, handle<int>> && !accepts<pool<int>, ship_handle>);
static_assert(!accepts<ship_pool, any_handle>);
static_assert(!std::equality_comparable_with<ship_handle, shell_handle>);

// It costs nothing.
static_assert(sizeof(ship_handle) == sizeof(handle<int>) && std::is_trivially_copyable_v<ship_handle>);
static_assert(sizeof(ship_pool) == sizeof(pool<int>));
static_assert(sizeof(handle<int, keyed_layout<struct small, handle_layout<16, 12, 4>>>) == 4);

// Untyped handles have no key; typed ones don't lose it.
static_assert(std::is_convertible_v<ship_handle, any_handle> &&
              !std::is_convertible_v<any_handle, ship_handle>);
static_assert(std::is_convertible_v<ship_handle, handle<void, ship_layout>>);
static_assert(std::is_convertible_v<handle<void, ship_layout>, any_handle>);
static_assert(!std::is_convertible_v<any_handle, handle<void, ship_layout>>);
static_assert(!std::is_convertible_v<ship_handle, handle<int>> &&
              !std::is_convertible_v<handle<int>, ship_handle>);
static_assert(!std::is_convertible_v<handle<int, keyed_layout<ships, script_layout>>, any_handle>);

TEST(keyed_layout, makes_pools_like_any_other) {
    ship_pool ships({.name = "ships", .capacity = 10});
    shell_pool shells({.name = "shells", .capacity = 10});
    const ship_handle ship = ships.emplace(1);
    const shell_handle shell = shells.emplace(2);
    ships.compact();
    EXPECT_EQ(ships.at(ship), 1);
    EXPECT_EQ(shells.at(shell), 2);
    EXPECT_NE(ships.id(), shells.id()) << "ids are shared by all keys";
    EXPECT_EQ(ships.handles()[0], ship);
    EXPECT_EQ(ships.oldest(1), std::vector{ship});
    EXPECT_FALSE(ships.contains(ship_handle::from_value(shell.value())));
    ships.erase(ship);
    expect_consistent(ships);
}

TEST(keyed_layout, has_hashes_text_and_comparisons) {
    ship_pool ships({.name = "ships", .capacity = 10});
    const ship_handle ship = ships.emplace(1);
    const auto unkeyed = handle<int>::from_value(ship.value());
    EXPECT_EQ(std::hash<ship_handle>()(ship), std::hash<handle<int>>()(unkeyed));
    EXPECT_EQ(fmt::format("{}", ship), fmt::format("{}", unkeyed));
    EXPECT_EQ(any_handle(ship), any_handle(unkeyed));
    EXPECT_EQ(any_handle(handle<void, ship_layout>(ship)).value(), ship.value());
    std::unordered_map<ship_handle, int> by_handle{{ship, 7}};
    EXPECT_EQ(by_handle.at(ship), 7);
    EXPECT_EQ(ship.index(), unkeyed.index());
}

TEST(keyed_layout, is_for_raw_pools_too) {
    raw_pool<with_layout<ship_layout>> raw({.name = "raw", .capacity = 10}, {.size = 4, .alignment = 4});
    static_assert(!accepts<decltype(raw), any_handle> && accepts<decltype(raw), ship_handle>);
    const handle<void, ship_layout> one = raw.emplace();
    EXPECT_TRUE(raw.contains(one));
    EXPECT_EQ(raw.handle_of(raw.find(one)), one);
}

} // namespace
} // namespace handlepool::test

// SPDX-License-Identifier: MIT

// The map of a store, compared with what the pool says itself.

#include <handlepool/columns.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/stable_pool.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <tools/inspect/store_map.hpp>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace handlepool::inspect_tool {
namespace {

using nlohmann::json;
using testing::ElementsAre;

struct ship {
    int hull = 0;
};

store_map map_of_only_pool(std::uint64_t first = 0, std::size_t most = 1'000'000) {
    const inspected_program program = inspected_program::in_process(getpid()).front();
    return draw_map(program, inspected_pool(program, program.pools().front()), first, most);
}

std::string states_of(const store_map& map) {
    return json_of(map)["states"];
}

std::vector<std::uint64_t> handles_of(const store_map& map) {
    std::vector<std::uint64_t> handles;
    std::ranges::transform(map.cells, std::back_inserter(handles), &map_cell::handle);
    return handles;
}

TEST(store_map, has_a_cell_for_all_that_is_in_the_store) {
    pool<ship> ships({.name = "ships", .capacity = 100, .record_lives = 2, .pool_id = 320});
    std::vector<handle<ship>> made;
    for (int i = 0; i != 4; ++i) {
        made.push_back(ships.emplace(ship{i}));
    }
    ships.compact();
    ships.erase(made[1]);
    const auto newborn = ships.emplace(ship{4});
    const auto gone = ships.emplace(ship{5});
    ships.erase(gone);
    const auto reserved = ships.reserve_handle();
    const store_map map = map_of_only_pool();
    EXPECT_EQ(states_of(map), "aeaanr");
    EXPECT_THAT(handles_of(map), ElementsAre(made[0].value(), made[1].value(), made[2].value(),
                                             made[3].value(), newborn.value(), reserved.value()));
    EXPECT_THAT(map.cells[0].age, 1U);
    EXPECT_THAT(map.cells[1].age, std::nullopt);
    EXPECT_THAT(map.cells[4].age, 0U);
    ASSERT_EQ(map.creators.size(), 2U); // two lines of this function
    EXPECT_EQ(map.cells[0].creator, 0U);
    EXPECT_EQ(map.cells[4].creator, 1U);
    EXPECT_EQ(map.cells[5].creator, std::nullopt);
}

TEST(store_map, of_a_stable_pool_shows_empty_places) {
    stable_pool<ship> ships({.name = "ships", .capacity = 100, .pool_id = 321});
    std::vector<handle<ship>> made;
    for (int i = 0; i != 5; ++i) {
        made.push_back(ships.emplace(ship{i}));
    }
    ships.compact();
    ships.erase(made[0]);
    ships.erase(made[3]);
    ships.compact();
    const store_map map = map_of_only_pool();
    EXPECT_EQ(states_of(map).size(), map.size);
    EXPECT_EQ(std::ranges::count(states_of(map), 'a'), 3);
    EXPECT_EQ(std::ranges::count(states_of(map), '-'), static_cast<std::ptrdiff_t>(map.size) - 3);
    EXPECT_GE(map.size, 4U);
}

TEST(store_map, is_drawn_in_parts) {
    pool<ship> ships({.name = "ships", .capacity = 100, .pool_id = 322});
    for (int i = 0; i != 10; ++i) {
        ships.emplace(ship{i});
    }
    ships.compact();
    for (int i = 0; i != 3; ++i) {
        ships.emplace(ship{i});
    }
    const store_map whole = map_of_only_pool();
    EXPECT_EQ(whole.size, 13U);
    for (std::uint64_t first = 0; first <= 14; ++first) {
        for (std::size_t most = 0; most <= 14; ++most) {
            const store_map part = map_of_only_pool(first, most);
            const std::size_t begin = std::min<std::size_t>(first, 13);
            const std::size_t count = std::min<std::size_t>(most, 13 - begin);
            EXPECT_EQ(part.size, 13U);
            EXPECT_EQ(part.first, begin);
            EXPECT_EQ(states_of(part), states_of(whole).substr(begin, count)) << first << ' ' << most;
        }
    }
    EXPECT_EQ(map_of_only_pool(~std::uint64_t{0}, 5).cells.size(), 0U);
}

TEST(store_map, tells_what_was_written) {
    pool<columns<int, std::uint64_t>> rows({.name = "rows", .capacity = 100, .pool_id = 323});
    std::vector<handle<columns<int, std::uint64_t>>> made;
    for (int i = 0; i != 4; ++i) {
        made.push_back(rows.emplace(i, 7U));
    }
    rows.compact();
    const store_map before = map_of_only_pool();
    rows[made[2]].get<1>() = 8;
    const store_map after = map_of_only_pool();
    ASSERT_EQ(after.cells.size(), 4U);
    for (std::size_t i = 0; i != 4; ++i) {
        EXPECT_EQ(before.cells[i].hash == after.cells[i].hash, i != 2) << i;
    }
    EXPECT_NE(before.cells[0].hash, before.cells[1].hash);
}

TEST(store_map, agrees_with_the_pool_after_each_step) {
    pool<ship> ships({.name = "ships", .capacity = 60, .remember_frames = true, .pool_id = 324});
    std::mt19937 random(5);
    std::vector<handle<ship>> made;
    for (int step = 0; step != 400; ++step) {
        switch (random() % 4) {
        case 0:
        case 1:
            if (const auto one = ships.try_emplace(ship{step})) {
                made.push_back(one);
            }
            break;
        case 2:
            if (!made.empty()) {
                std::swap(made[random() % made.size()], made.back());
                ships.erase(made.back());
                made.pop_back();
            }
            break;
        default:
            ships.compact();
        }
        const store_map map = map_of_only_pool();
        std::vector<std::uint64_t> alive;
        for (const map_cell& each : map.cells) {
            if (each.is == map_cell::state::alive || each.is == map_cell::state::newborn) {
                alive.push_back(each.handle);
            } else {
                ASSERT_EQ(each.is, map_cell::state::erased);
                ASSERT_FALSE(each.handle != 0 && ships.contains(handle<ship>::from_value(each.handle)));
            }
        }
        std::vector<std::uint64_t> expected;
        std::ranges::transform(made, std::back_inserter(expected), [](auto each) { return each.value(); });
        std::ranges::sort(alive);
        std::ranges::sort(expected);
        ASSERT_EQ(alive, expected) << step;
    }
}

TEST(store_map, is_the_same_in_json) {
    pool<ship> ships({.name = "ships", .capacity = 10, .pool_id = 325});
    const auto one = ships.emplace(ship{1});
    ships.compact();
    const store_map map = map_of_only_pool();
    char handle_text[32];
    std::snprintf(handle_text, sizeof handle_text, "0x%llx", static_cast<unsigned long long>(one.value()));
    EXPECT_EQ(json(json_of(map)), (json{{"size", 1},
                                        {"first", 0},
                                        {"states", "a"},
                                        {"handles", {handle_text}},
                                        {"ages", {nullptr}},
                                        {"creators", {nullptr}},
                                        {"hashes", {map.cells[0].hash}},
                                        {"creator_names", json::array()}}));
}

} // namespace
} // namespace handlepool::inspect_tool

// SPDX-License-Identifier: MIT

// Maps from handles to values.

#include <handlepool/handle_map.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/stable_pool.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tests/support/made_up.hpp>
#include <tests/support/random.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

using testing::ElementsAre;

using ship_pool = pool<int>;
using ship_handle = ship_pool::handle_type;
using name_map = handle_map<int, std::string>;

TEST(handle_map, finds_what_was_put_in) {
    ship_pool pool({.name = "ships", .capacity = 10});
    const auto titan = pool.emplace(1);
    const auto argo = pool.emplace(2);
    name_map names;
    const auto made = names.try_emplace(titan, std::size_t{3}, 'x');
    EXPECT_TRUE(made.inserted);
    EXPECT_EQ(*made.value, "xxx");
    const auto again = names.try_emplace(titan, "other");
    EXPECT_FALSE(again.inserted);
    EXPECT_EQ(*again.value, "xxx") << "the member keeps its value";
    EXPECT_FALSE(names.insert_or_assign(titan, "titan").inserted);
    EXPECT_TRUE(names.insert_or_assign(argo, "argo").inserted);
    EXPECT_EQ(*names.find(titan), "titan");
    EXPECT_EQ(names.at(argo), "argo");
    EXPECT_THAT(names.handles(), ElementsAre(titan, argo));
    EXPECT_THAT(names.values(), ElementsAre("titan", "argo"));
    EXPECT_TRUE(names.erase(titan));
    EXPECT_FALSE(names.erase(titan));
    EXPECT_EQ(names.find(titan), nullptr);
    EXPECT_FALSE(names.contains(titan));
    EXPECT_EQ(std::as_const(names).at(argo), "argo");
}

TEST(handle_map, at_names_the_handle_that_is_no_member) {
    const name_map names;
    try {
        names.at(made_up(17, 5));
        FAIL() << "no exception";
    } catch (const std::out_of_range& missing) {
        EXPECT_THAT(missing.what(),
                    testing::AllOf(testing::HasSubstr("#17"), testing::HasSubstr("generation 5")));
    }
}

TEST(handle_map, a_later_handle_replaces_a_stale_member_with_its_value) {
    name_map names;
    names.try_emplace(made_up(3, 1), "old");
    const auto made = names.try_emplace(made_up(3, 3), "new");
    EXPECT_TRUE(made.inserted);
    EXPECT_EQ(*made.value, "new");
    EXPECT_EQ(names.find(made_up(3, 1)), nullptr);
    const auto stale = names.try_emplace(made_up(3, 1), "stale");
    EXPECT_FALSE(stale.inserted);
    EXPECT_EQ(stale.value, nullptr);
    EXPECT_EQ(names.insert_or_assign(made_up(3, 1), "stale").value, nullptr);
    EXPECT_THROW(names.insert_or_assign(made_up(3, 5, 5), "foreign"), std::invalid_argument);
    EXPECT_THAT(names.values(), ElementsAre("new"));
}

TEST(handle_map, values_follow_their_handles) {
    handle_map<int, std::unique_ptr<int>> numbers; // can't be copied
    for (std::uint64_t i = 0; i != 100; ++i) {
        numbers.try_emplace(made_up(i, 1), std::make_unique<int>(static_cast<int>(i)));
    }
    for (std::uint64_t i = 0; i < 100; i += 3) {
        numbers.erase(made_up(i, 1));
    }
    numbers.for_each([](ship_handle handle, const std::unique_ptr<int>& value) {
        EXPECT_EQ(static_cast<std::uint64_t>(*value), handle.index());
    });
    EXPECT_EQ(erase_if(numbers, [](ship_handle, const std::unique_ptr<int>& value) { return *value > 50; }),
              32U);
    EXPECT_EQ(numbers.size(), 34U);
    std::as_const(numbers).for_each([](ship_handle handle, const std::unique_ptr<int>& value) {
        EXPECT_EQ(static_cast<std::uint64_t>(*value), handle.index());
    });
}

struct throws_when_made {
    explicit throws_when_made(bool now) {
        if (now) {
            throw std::runtime_error("made");
        }
    }
};

TEST(handle_map, nothing_changes_when_a_value_throws) {
    handle_map<int, throws_when_made> map;
    map.try_emplace(made_up(1, 1), false);
    EXPECT_THROW(map.try_emplace(made_up(2, 1), true), std::runtime_error);
    EXPECT_THROW(map.try_emplace(made_up(1, 3), true), std::runtime_error);
    EXPECT_THAT(map.handles(), ElementsAre(made_up(1, 1)));
    EXPECT_EQ(map.values().size(), 1U);
    EXPECT_FALSE(map.contains(made_up(1, 3)));
}

TEST(handle_map, takes_arguments_from_itself) {
    name_map names;
    names.try_emplace(made_up(0, 1), std::string(100, 'x'));
    for (std::uint64_t i = 1; i != 50; ++i) {
        names.try_emplace(made_up(i, 1), *names.find(made_up(0, 1)));
    }
    for (const std::string& each : names.values()) {
        EXPECT_EQ(each, std::string(100, 'x'));
    }
}

TEST(handle_map, attached_loses_the_values_of_the_dead) {
    stable_pool<int> pool({.name = "ships", .capacity = 10});
    handle_map<int, std::shared_ptr<int>> map;
    map.attach(pool);
    const auto value = std::make_shared<int>(1);
    const auto one = pool.emplace(1);
    const auto other = pool.emplace(2);
    map.try_emplace(one, value);
    map.try_emplace(other, value);
    pool.erase(one);
    EXPECT_EQ(value.use_count(), 3);
    pool.compact();
    EXPECT_EQ(value.use_count(), 2);
    EXPECT_THAT(map.handles(), ElementsAre(other));

    auto moved = std::move(map);
    pool.erase(other);
    pool.compact();
    EXPECT_TRUE(moved.empty());
    EXPECT_EQ(value.use_count(), 1);
    EXPECT_TRUE(moved.attached());
    moved = {};
    EXPECT_FALSE(moved.attached());
}

TEST(handle_map, attached_refuses_the_dead) {
    ship_pool pool({.name = "ships", .capacity = 10});
    name_map names;
    names.attach(pool);
    const auto one = pool.emplace(1);
    names.try_emplace(one, "one");
    const auto other = pool.emplace(2);
    pool.erase(one);
    pool.erase(other);
    EXPECT_EQ(*names.try_emplace(one, "again").value, "one") << "still a member";
    EXPECT_EQ(names.try_emplace(other, "other").value, nullptr);
    EXPECT_EQ(names.size(), 1U);
    pool.compact();
    EXPECT_TRUE(names.empty());
}

TEST(handle_map, gives_its_memory_back) {
    name_map map;
    map.reserve(1000);
    for (std::uint64_t i = 0; i != 1000; ++i) {
        map.try_emplace(made_up(10 * i, 1), "ship");
    }
    EXPECT_GE(map.memory(), 1000 * (sizeof(std::string) + 8 + 4));
    map.clear();
    map.shrink_to_fit();
    EXPECT_EQ(map.memory(), 0U);
}

TEST(handle_map, does_what_a_std_map_does) {
    random_source random(7);
    ship_pool pool({.name = "ships", .capacity = 500, .reuse_delay = 0});
    handle_map<int, int> map;
    map.attach(pool);
    std::map<ship_handle, int> oracle;
    std::vector<ship_handle> all;
    for (int step = 0; step != 20'000; ++step) {
        if (const auto made = pool.try_emplace(step)) {
            all.push_back(made);
        }
        const auto any = all[random.below(all.size())];
        switch (random.below(5)) {
        case 0:
            if (pool.contains(any)) {
                EXPECT_EQ(map.try_emplace(any, step).inserted, oracle.try_emplace(any, step).second);
            }
            break;
        case 1:
            if (pool.contains(any)) {
                EXPECT_EQ(map.insert_or_assign(any, step).inserted,
                          oracle.insert_or_assign(any, step).second);
            }
            break;
        case 2:
            EXPECT_EQ(map.erase(any), oracle.erase(any) == 1);
            break;
        case 3:
            pool.erase(any);
            break;
        default:
            if (random.one_in(10)) {
                pool.compact();
                std::erase_if(oracle, [&](const auto& each) { return !pool.contains(each.first); });
                std::map<ship_handle, int> found;
                map.for_each([&](ship_handle handle, int value) { found.emplace(handle, value); });
                ASSERT_EQ(found, oracle);
            }
            break;
        }
        const auto expected = oracle.find(any);
        const int* const found = map.find(any);
        ASSERT_EQ(found != nullptr, expected != oracle.end());
        if (found != nullptr) {
            ASSERT_EQ(*found, expected->second);
        }
    }
}

} // namespace
} // namespace handlepool::test

// SPDX-License-Identifier: MIT

// Rows that come and go in numbers, or are handed out.

#include <handlepool/columns.hpp>
#include <handlepool/thread_executor.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <iterator>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

using people = columns<std::string, int>;

using people_pool = pool<people, with_layout<keyed_layout<struct of_people>>>;

struct columns_numbers : testing::Test {
    using handle_type = people_pool::handle_type;

    people_pool pool{{.name = "people", .capacity = 1'000}};

    std::vector<handle_type> make(std::size_t count, int first) {
        std::vector<handle_type> made;
        pool.emplace_n(count, std::back_inserter(made), [first](std::size_t i) {
            const int age = first + static_cast<int>(i);
            return std::tuple(std::to_string(age), age);
        });
        return made;
    }
    std::vector<int> ages() const {
        const auto all = pool.items<int>();
        return {all.begin(), all.end()};
    }
};

TEST_F(columns_numbers, a_generator_makes_different_rows_all_or_nothing) {
    make(3, 1);
    pool.compact();
    EXPECT_THAT(ages(), ElementsAre(1, 2, 3));
    EXPECT_THAT(pool.items<std::string>(), ElementsAre("1", "2", "3"));
    std::vector<handle_type> none;
    EXPECT_THROW(pool.emplace_n(5, std::back_inserter(none),
                                [](std::size_t i) {
                                    if (i == 3) {
                                        throw std::string("enough");
                                    }
                                    return std::tuple(std::string("x"));
                                }),
                 std::string);
    EXPECT_TRUE(none.empty());
    EXPECT_EQ(pool.size(), 3U);
}

TEST_F(columns_numbers, a_taken_row_goes_to_its_sink) {
    const auto made = make(3, 1);
    pool.compact();
    const auto newborn = make(1, 10);
    std::vector<std::string> names;
    const auto sink = [&](auto taken) { names.push_back(std::move(taken.template get<std::string>())); };
    EXPECT_TRUE(pool.extract(made[1], sink));
    EXPECT_TRUE(pool.extract(newborn[0], sink));
    EXPECT_FALSE(pool.extract(made[1], sink));
    EXPECT_EQ(pool.compact().removed, 2U);
    EXPECT_THAT(names, ElementsAre("2", "10"));
    EXPECT_THAT(ages(), UnorderedElementsAre(1, 3));
}

TEST_F(columns_numbers, erase_if_sees_all_living_rows) {
    make(300, 0);
    pool.compact();
    make(300, 300);
    thread_executor executor(2);
    const auto is_odd = [](auto each) { return each.template get<int>() % 2 != 0; };
    EXPECT_EQ(erase_if(pool, is_odd, executor), 300U);
    EXPECT_EQ(erase_if(pool, [](auto each) { return each.template get<std::string>().size() != 1; }), 295U);
    pool.compact();
    EXPECT_THAT(ages(), UnorderedElementsAre(0, 2, 4, 6, 8));
}

TEST_F(columns_numbers, drain_hands_out_all_rows) {
    make(2, 1);
    pool.compact();
    make(1, 3);
    std::vector<int> drained;
    EXPECT_EQ(pool.drain([&](auto handle, auto taken) {
        EXPECT_FALSE(pool.contains(handle));
        drained.push_back(taken.template get<int>());
    }),
              3U);
    EXPECT_THAT(drained, UnorderedElementsAre(1, 2, 3));
    EXPECT_TRUE(pool.empty());
    EXPECT_TRUE(pool.items<int>().empty());
}

TEST_F(columns_numbers, births_and_deaths_are_reported_until_the_hook_is_taken_off) {
    std::vector<std::string> born;
    std::vector<std::string> dead;
    const scoped_hook births = pool.on_birth([&](auto handle, auto one) {
        EXPECT_TRUE(pool.contains(handle));
        born.push_back(one.template get<0>());
    });
    scoped_hook deaths = pool.on_destroy([&](auto, auto one) { dead.push_back(one.template get<0>()); });
    const auto made = make(3, 1);
    pool.erase(made[0]);
    pool.compact();
    EXPECT_THAT(born, UnorderedElementsAre("2", "3"));
    EXPECT_THAT(dead, ElementsAre("1"));
    deaths.disconnect();
    pool.erase(made[1]);
    pool.compact();
    EXPECT_EQ(dead.size(), 1U);
}

TEST_F(columns_numbers, views_show_handles_and_rows) {
    const auto made = make(3, 1);
    pool.compact();
    pool.erase(made[0]);
    std::vector<int> all;
    for (auto [handle, person] : pool.entries()) {
        EXPECT_EQ(pool.contains(handle), person.get<int>() != 1);
        auto& [name, age] = person;
        EXPECT_EQ(name, std::to_string(age));
        all.push_back(age);
    }
    EXPECT_THAT(all, ElementsAre(1, 2, 3));
    std::vector<int> living;
    for (const auto entry : std::as_const(pool).living()) {
        static_assert(std::is_same_v<decltype(entry.object.get<int>()), const int&>);
        living.push_back(entry.object.get<int>());
    }
    EXPECT_THAT(living, ElementsAre(2, 3));
    EXPECT_THAT(pool.handles(), ElementsAre(made[0], made[1], made[2]));
}

struct point {
    float x;
    float y;
};

template <class Pool>
concept takes_doubles = requires(Pool pool) { pool.emplace(1.5); };
static_assert(!takes_doubles<pool<columns<point, int>>>, "would be narrowed");

TEST(columns_of_aggregates, are_made_by_braces) {
    pool<columns<point, int>> points({.name = "points", .capacity = 10});
    using handle_type = decltype(points)::handle_type;
    const handle_type at = points.emplace(1.5F);
    EXPECT_EQ(points.at(at).get<point>().x, 1.5F);
    EXPECT_EQ(points.at(at).get<point>().y, 0.0F);
    EXPECT_EQ(points.at(points.emplace(point{1, 2}, 3)).get<point>().y, 2.0F);
}

} // namespace
} // namespace handlepool::test

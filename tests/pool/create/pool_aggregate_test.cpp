// SPDX-License-Identifier: MIT

// Aggregates and arrays, which are made by braces.

#include <handlepool/pool.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

struct triple {
    int v[3];
};
struct point {
    int x = 10;
    int y = 20;
};
struct segment {
    point from;
    point to;
};
struct named_owner {
    std::string name;
    std::unique_ptr<int> owned;
};
struct to_point {
    operator point() const { return {.x = 3, .y = 4}; }
};
struct explicitly_to_point {
    explicit operator point() const { return {.x = 5, .y = 6}; }
};

template <class T, class... Args>
concept can_emplace = requires(pool<T>& into, Args&&... args) {
    into.emplace(std::forward<Args>(args)...);
    into.try_emplace(std::forward<Args>(args)...);
};
template <class T, class... Args>
concept can_emplace_n =
    requires(pool<T>& into, handle<T>* out, const Args&... args) { into.emplace_n(1, out, args...); };

static_assert(can_emplace<std::array<int, 3>, int, int, int> && can_emplace<triple, int, int, int>);
static_assert(can_emplace<triple> && can_emplace<triple, int> && can_emplace<triple, const triple&>);
static_assert(!can_emplace<triple, int, int, int, int>, "too many");
static_assert(!can_emplace<triple, std::string>);

// No silent narrowing; parentheses would allow it.
static_assert(can_emplace<point, int, int> && can_emplace<point, short, const int&>);
static_assert(!can_emplace<point, double, int> && !can_emplace<point, int, long long> &&
              !can_emplace<point, double>);
static_assert(!can_emplace<std::array<int, 2>, long long, long long> &&
              !can_emplace<std::array<float, 2>, double>);
static_assert(!can_emplace_n<point, int, double> && can_emplace_n<point, int, int>);

// What is no aggregate is made by parentheses, as ever.
static_assert(can_emplace<int, double> && can_emplace<std::vector<int>, int, int>);
static_assert(!can_emplace<std::vector<int>, int, int, int>);

TEST(aggregate, is_made_from_its_members) {
    pool<point> points({.name = "points", .capacity = 10});
    const auto one = points.emplace(1, 2);
    EXPECT_EQ(points.at(one).x, 1);
    EXPECT_EQ(points.at(one).y, 2);
    const auto partly = points.emplace(1);
    EXPECT_EQ(points.at(partly).y, 20) << "by its default";
    EXPECT_EQ(points.at(points.emplace()).x, 10);
    EXPECT_EQ(points.at(points.insert({.x = 7})).y, 20);
    const point other{.x = 8};
    EXPECT_EQ(points.at(points.emplace(other)).x, 8);
}

TEST(aggregate, may_hold_arrays_and_others) {
    pool<std::array<int, 3>> arrays({.name = "arrays", .capacity = 10});
    EXPECT_EQ(arrays.at(arrays.emplace(1, 2, 3)), (std::array{1, 2, 3}));
    EXPECT_EQ(arrays.at(arrays.emplace(1)), (std::array{1, 0, 0}));
    EXPECT_EQ(arrays.at(arrays.try_emplace()), (std::array{0, 0, 0}));
    pool<triple> triples({.name = "triples", .capacity = 10});
    EXPECT_EQ(triples.at(triples.emplace(1, 2, 3)).v[2], 3);
    pool<segment> segments({.name = "segments", .capacity = 10});
    EXPECT_EQ(segments.at(segments.emplace(1, 2, 3, 4)).to.x, 3);
    EXPECT_EQ(segments.at(segments.emplace(point{.x = 1}, point{.x = 2})).to.x, 2);
}

TEST(aggregate, takes_values_by_move) {
    pool<named_owner> pool({.name = "owners", .capacity = 10});
    const auto one = pool.emplace("name", std::make_unique<int>(7));
    EXPECT_EQ(pool.at(one).name, "name");
    EXPECT_EQ(*pool.at(one).owned, 7);
    named_owner moved{.name = "moved", .owned = nullptr};
    EXPECT_EQ(pool.at(pool.emplace(std::move(moved))).name, "moved");
}

TEST(aggregate, is_made_from_what_converts_to_it) {
    pool<point> points({.name = "points", .capacity = 10});
    EXPECT_EQ(points.at(points.emplace(to_point())).y, 4);
    EXPECT_EQ(points.at(points.emplace(explicitly_to_point())).y, 6);
}

TEST(aggregate, is_made_by_all_that_creates) {
    pool<point> points({.name = "points", .capacity = 10});
    std::vector<handle<point>> handles;
    points.emplace_n(1, std::back_inserter(handles), 1, 2);
    points.try_emplace_n(1, std::back_inserter(handles), 3);
    points.emplace_n(1, std::back_inserter(handles), [](std::size_t) { return 5; });
    points.insert_range(std::array{7}, std::back_inserter(handles));
    points.insert_range(std::array{to_point()}, std::back_inserter(handles));
    const int xs[] = {1, 3, 5, 7, 3};
    ASSERT_EQ(handles.size(), std::size(xs));
    for (std::size_t i = 0; i != handles.size(); ++i) {
        EXPECT_EQ(points.at(handles[i]).x, xs[i]);
    }
}

} // namespace
} // namespace handlepool::test

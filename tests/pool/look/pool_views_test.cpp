// SPDX-License-Identifier: MIT

// handles(), entries() and living(): the dense store as ranges.

#include <handlepool/pool.hpp>
#include <handlepool/raw_pool.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tests/support/hostile_types.hpp>
#include <tests/support/random.hpp>
#include <tests/support/tabulate.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <iterator>
#include <new>
#include <ranges>
#include <type_traits>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using ints = pool<int>;

using handle_view = decltype(std::declval<ints&>().handles());
using entry_view = decltype(std::declval<ints&>().entries());
using const_entry_view = decltype(std::declval<const ints&>().entries());
using living_view = decltype(std::declval<ints&>().living());
using const_living_view = decltype(std::declval<const ints&>().living());
using raw_view = decltype(std::declval<raw_pool<>&>().entries());
using const_raw_view = decltype(std::declval<const raw_pool<>&>().entries());
using raw_living_view = decltype(std::declval<raw_pool<>&>().living());

// As strong as values instead of references allow: no contiguous range, no output range.
template <class View>
concept view_of_positions = std::ranges::random_access_range<View> && std::ranges::sized_range<View> &&
                            std::ranges::borrowed_range<View> && std::ranges::common_range<View> &&
                            std::ranges::view<View> && std::ranges::random_access_range<const View> &&
                            std::default_initializable<View> && !std::ranges::contiguous_range<View>;
template <class View>
concept view_of_living = std::ranges::bidirectional_range<View> && std::ranges::borrowed_range<View> &&
                         std::ranges::common_range<View> && std::ranges::view<View> &&
                         std::ranges::bidirectional_range<const View> && std::default_initializable<View> &&
                         !std::ranges::sized_range<View> && !std::ranges::random_access_range<View>;
// Handles name places: nothing may reorder the objects.
template <class View>
concept cannot_be_reordered =
    !std::permutable<std::ranges::iterator_t<View>> && !std::sortable<std::ranges::iterator_t<View>> &&
    !std::indirectly_swappable<std::ranges::iterator_t<View>>;

static_assert(view_of_positions<handle_view> && view_of_positions<entry_view> &&
              view_of_positions<const_entry_view> && view_of_positions<raw_view> &&
              view_of_positions<const_raw_view>);
static_assert(view_of_living<living_view> && view_of_living<const_living_view> &&
              view_of_living<raw_living_view>);
static_assert(cannot_be_reordered<handle_view> && cannot_be_reordered<entry_view> &&
              cannot_be_reordered<living_view> && cannot_be_reordered<raw_view>);
static_assert(std::is_same_v<std::ranges::range_reference_t<handle_view>, handle<int>>);
static_assert(std::is_same_v<decltype(std::ranges::range_reference_t<entry_view>::object), int&>);
static_assert(std::is_same_v<decltype(std::ranges::range_reference_t<const_entry_view>::object), const int&>);
static_assert(std::is_same_v<decltype(std::ranges::range_reference_t<raw_view>::object), void*>);
static_assert(std::is_same_v<decltype(std::ranges::range_reference_t<const_raw_view>::object), const void*>);

/// A pool of 0 to count - 1.
struct filled {
    explicit filled(int count) {
        for (int i = 0; i != count; ++i) {
            handles.push_back(pool.emplace(i));
        }
        pool.compact();
    }

    ints pool{{.name = "ints", .capacity = 1000}};
    std::vector<handle<int>> handles;
};

std::vector<int> values(auto&& entries) {
    std::vector<int> all;
    for (const auto [handle, object] : entries) {
        all.push_back(object);
    }
    return all;
}

TEST(handles, are_those_of_the_dense_store_in_its_order) {
    filled at(5);
    at.pool.emplace(6); // no compaction has seen it
    EXPECT_EQ(std::vector(at.pool.handles().begin(), at.pool.handles().end()), at.handles);
    EXPECT_EQ(at.pool.handles().size(), 5U);
    EXPECT_EQ(at.pool.handles()[3], at.handles[3]);
    EXPECT_EQ(at.pool.handles().front(), at.handles[0]);
    EXPECT_EQ(at.pool.handles().back(), at.handles[4]);
    at.pool.erase(at.handles[2]);
    EXPECT_EQ(at.pool.handles()[2], at.handles[2]) << "stale, and still there";
    EXPECT_EQ(std::ranges::count_if(at.pool.handles(), [&](auto each) { return at.pool.contains(each); }), 4);
    at.pool.compact();
    for (std::size_t i = 0; i != at.pool.handles().size(); ++i) {
        EXPECT_EQ(at.pool.handles()[i], at.pool.handle_at(i));
    }
}

TEST(views, of_an_empty_pool_and_of_none_are_empty) {
    ints pool({.name = "ints", .capacity = 10});
    pool.emplace(1);
    EXPECT_TRUE(pool.handles().empty());
    EXPECT_TRUE(pool.entries().empty());
    EXPECT_TRUE(pool.living().empty());
    EXPECT_EQ(pool.living().begin(), pool.living().end());
    EXPECT_TRUE(handle_view().empty());
    EXPECT_TRUE(entry_view().empty());
    EXPECT_TRUE(living_view().empty());
    EXPECT_EQ(handle_view().begin(), handle_view().end());
}

TEST(entries, show_handle_and_object_which_can_be_changed) {
    filled at(4);
    int next = 0;
    for (auto [handle, object] : at.pool.entries()) {
        EXPECT_EQ(&object, at.pool.find(handle));
        EXPECT_EQ(object, next++);
        object += 10;
    }
    const ints& seen = at.pool;
    EXPECT_THAT(values(seen.entries()), ElementsAre(10, 11, 12, 13));
    EXPECT_EQ(seen.entries()[1].handle, at.handles[1]);
}

TEST(living, leaves_out_what_was_erased_since_the_last_compaction) {
    const auto living_without = [](std::vector<std::size_t> dead) {
        filled at(5);
        for (const std::size_t each : dead) {
            at.pool.erase(at.handles[each]);
        }
        std::vector<int> forwards = values(at.pool.living());
        std::vector<int> backwards = values(at.pool.living() | std::views::reverse);
        std::ranges::reverse(backwards);
        EXPECT_EQ(forwards, backwards);
        EXPECT_EQ(values(std::as_const(at.pool).living()), forwards);
        return forwards;
    };
    EXPECT_THAT(living_without({}), ElementsAre(0, 1, 2, 3, 4));
    EXPECT_THAT(living_without({0}), ElementsAre(1, 2, 3, 4));
    EXPECT_THAT(living_without({4}), ElementsAre(0, 1, 2, 3));
    EXPECT_THAT(living_without({1, 2}), ElementsAre(0, 3, 4));
    EXPECT_THAT(living_without({0, 1, 3, 4}), ElementsAre(2));
    EXPECT_THAT(living_without({0, 1, 2, 3, 4}), IsEmpty());
}

TEST(living, lets_the_loop_erase) {
    filled at(6);
    std::vector<int> seen;
    for (const auto [handle, object] : at.pool.living()) {
        seen.push_back(object);
        at.pool.erase(handle);
        if (object == 2) {
            at.pool.erase(at.handles[3]);
        }
    }
    EXPECT_THAT(seen, ElementsAre(0, 1, 2, 4, 5));
    EXPECT_TRUE(at.pool.empty());
}

TEST(views, work_in_algorithms_and_adaptors) {
    filled at(10);
    const auto objects = [](const auto& entry) { return entry.object; };
    EXPECT_EQ(std::ranges::max(at.pool.entries() | std::views::transform(objects)), 9);
    const auto found = std::ranges::find(at.pool.handles(), at.handles[7]); // borrowed: the view is gone
    EXPECT_EQ(*found, at.handles[7]);
    EXPECT_EQ(found - at.pool.handles().begin(), 7);
    EXPECT_THAT(values(at.pool.entries() | std::views::drop(3) | std::views::take(2)), ElementsAre(3, 4));
    EXPECT_THAT(values(at.pool.entries() | std::views::reverse | std::views::take(2)), ElementsAre(9, 8));
    EXPECT_EQ(std::ranges::lower_bound(at.pool.entries(), 6, {}, objects)->object, 6);
    auto two = at.pool.living() | std::views::filter([](const auto& each) { return each.object % 5 == 1; });
    EXPECT_THAT(values(two), ElementsAre(1, 6));
    std::vector<handle<int>> copy;
    std::ranges::copy_if(at.pool.handles(), std::back_inserter(copy),
                         [](auto each) { return each.index() < 3; });
    EXPECT_EQ(copy.size(), 3U);
    EXPECT_EQ(at.pool.erase(at.pool.handles()), 10U);
}

TEST(views, move_by_any_distance) {
    filled at(10);
    const auto view = at.pool.handles();
    const auto first = view.begin();
    auto moving = first;
    moving += 7;
    EXPECT_EQ(*moving, at.handles[7]);
    moving -= 2;
    EXPECT_EQ(*moving--, at.handles[5]);
    EXPECT_EQ(*moving++, at.handles[4]);
    EXPECT_EQ(*--moving, at.handles[4]);
    EXPECT_EQ(moving[-4], at.handles[0]);
    EXPECT_EQ(moving[5], at.handles[9]);
    EXPECT_EQ(first + 4, moving);
    EXPECT_EQ(4 + first, moving);
    EXPECT_EQ(moving - 4, first);
    EXPECT_EQ(first - moving, -4);
    EXPECT_LT(first, moving);
    EXPECT_GT(view.end(), moving);
    EXPECT_EQ(view.end() - first, 10);
}

TEST(views, of_a_raw_pool_show_pointers) {
    raw_pool<> pool({.name = "raw", .capacity = 10}, {.size = sizeof(int), .alignment = alignof(int)});
    const auto handles =
        tabulate(4, [&](int i) { return pool.emplace([=](void* memory) { ::new (memory) int(i); }); });
    pool.compact();
    EXPECT_EQ(std::vector(pool.handles().begin(), pool.handles().end()), handles);
    pool.erase(handles[1]);
    std::vector<int> seen;
    for (const auto [handle, object] : pool.living()) {
        EXPECT_EQ(pool.find(handle), object);
        seen.push_back(*static_cast<int*>(object));
    }
    EXPECT_THAT(seen, ElementsAre(0, 2, 3));
    EXPECT_EQ(std::as_const(pool).entries()[1].object, pool.items()[1]);
}

// Random creations and erasures: the views agree with handle_at, contains and find.
TEST(views, agree_with_what_the_pool_says_of_each) {
    random_source random(3);
    ints pool({.name = "random", .capacity = 200});
    std::vector<handle<int>> alive;
    for (int step = 0; step != 2000; ++step) {
        if (random.below(2) == 0 && alive.size() < 100) {
            alive.push_back(pool.emplace(step));
        } else if (!alive.empty()) {
            const auto victim = alive.begin() + static_cast<std::ptrdiff_t>(random.below(alive.size()));
            pool.erase(*victim);
            alive.erase(victim);
        }
        if (random.one_in(20)) {
            pool.compact();
        }
        if (!random.one_in(10)) {
            continue;
        }
        std::vector<handle<int>> expected;
        for (std::size_t i = 0; i != pool.items().size(); ++i) {
            ASSERT_EQ(pool.handles()[i], pool.handle_at(i));
            ASSERT_EQ(&pool.entries()[i].object, &pool.items()[i]);
            if (pool.contains(pool.handle_at(i))) {
                expected.push_back(pool.handle_at(i));
            }
        }
        std::vector<handle<int>> living;
        std::ranges::transform(pool.living(), std::back_inserter(living),
                               [](const auto& each) { return each.handle; });
        ASSERT_EQ(living, expected);
    }
}

} // namespace
} // namespace handlepool::test

// SPDX-License-Identifier: MIT
#include <handlepool/exclusive_pool.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/sort.hpp>
#include <handlepool/thread_executor.hpp>

#include <gtest/gtest.h>
#include <tests/support/consistency.hpp>
#include <tests/support/order_checks.hpp>
#include <tests/support/random.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <numeric>
#include <set>
#include <vector>

namespace handlepool::test {
namespace {

using ints = pool<std::uint64_t>;
using numbers = std::vector<std::uint64_t>;

constexpr auto smaller = [](std::uint64_t a, std::uint64_t b) noexcept { return a < b; };

numbers content(const ints& pool) {
    return {pool.items().begin(), pool.items().end()};
}

std::size_t neighbours_out_of_order(const ints& pool) {
    std::size_t count = 0;
    for (std::size_t i = 1; i < pool.items().size(); ++i) {
        count += pool.items()[i] < pool.items()[i - 1] ? 1U : 0U;
    }
    return count;
}

void fill(ints& pool, const numbers& values) {
    pool.reset();
    for (const std::uint64_t value : values) {
        pool.emplace(value);
    }
    pool.compact();
}

numbers shuffled(random_source& random, std::size_t count) {
    numbers values(count);
    std::iota(values.begin(), values.end(), 0U);
    std::ranges::shuffle(values, random.fork());
    return values;
}

TEST(sorting_some, of_a_sorted_store_moves_nothing) {
    ints pool({.name = "ints", .capacity = 100});
    EXPECT_TRUE(sort_some(pool, smaller, 10).in_order);
    fill(pool, {1, 2, 2, 5});
    std::size_t comparisons = 0;
    const sort_stats done = sort_some(
        pool,
        [&](std::uint64_t a, std::uint64_t b) {
            ++comparisons;
            return a < b;
        },
        10);
    EXPECT_EQ(done.moved, 0U);
    EXPECT_TRUE(done.in_order);
    EXPECT_EQ(done.size, 4U);
    EXPECT_EQ(comparisons, 3U + comparisons_to_check(4));
}

TEST(sorting_some, with_fewer_than_two_moves_changes_nothing) {
    ints pool({.name = "ints", .capacity = 100});
    const numbers values{3, 2, 1};
    fill(pool, values);
    for (const std::size_t budget : {0U, 1U}) {
        const sort_stats done = sort_some(pool, smaller, budget);
        EXPECT_EQ(done.moved, 0U);
        EXPECT_FALSE(done.in_order);
        EXPECT_EQ(content(pool), values);
    }
}

TEST(sorting_some, brings_a_window_in_order_and_keeps_the_order_of_what_leaves_it) {
    ints pool({.name = "ints", .capacity = 100});
    fill(pool, {5, 4, 3, 2, 1, 0});
    sort_stats done = sort_some(pool, smaller, 4);
    EXPECT_EQ(content(pool), (numbers{0, 1, 3, 2, 4, 5}));
    EXPECT_EQ(done.moved, 4U);
    EXPECT_FALSE(done.in_order);
    done = sort_some(pool, smaller, 4);
    EXPECT_EQ(content(pool), (numbers{0, 1, 2, 3, 4, 5}));
    EXPECT_EQ(done.moved, 2U);
    EXPECT_TRUE(done.in_order);
}

TEST(sorting_some, begins_at_the_front_after_a_reset) {
    ints pool({.name = "ints", .capacity = 100});
    for (int i = 0; i != 3; ++i) {
        fill(pool, {5, 4, 3, 2, 1, 0});
        sort_some(pool, smaller, 4);
        EXPECT_EQ(content(pool), (numbers{0, 1, 3, 2, 4, 5}));
    }
}

TEST(sorting_some, with_a_budget_for_all_is_a_sort) {
    random_source random(31);
    ints pool({.name = "ints", .capacity = 1000});
    const numbers values = shuffled(random, 1000);
    fill(pool, values);
    const sort_stats part = sort_some(pool, smaller, 1000);
    EXPECT_TRUE(part.in_order);
    EXPECT_EQ(neighbours_out_of_order(pool), 0U);
    fill(pool, values);
    EXPECT_EQ(sort(pool, smaller).moved, part.moved);
}

// Of a store that nobody changes: each call moves at most as many as it may, and puts more places in order,
// of which none is lost again.
TEST(sorting_some, reaches_the_order_within_twice_the_moves) {
    random_source random(32);
    ints pool({.name = "ints", .capacity = 1000});
    for (int round = 0; round != 300; ++round) {
        const std::size_t count = random.below(60) + 2;
        const numbers values = shuffled(random, count);
        numbers sorted = values;
        std::ranges::sort(sorted);
        fill(pool, values);
        const std::size_t fixed_budget = random.one_in(2) ? 0 : random.below(count + 3) + 2;
        std::size_t calls = 0;
        bool in_order = false;
        while (!in_order) {
            const std::size_t budget = fixed_budget != 0 ? fixed_budget : random.below(count) + 2;
            const numbers before = content(pool);
            const sort_stats done = sort_some(pool, smaller, budget);
            ASSERT_LE(done.moved, budget);
            ASSERT_EQ(done.moved, places_that_differ(before, content(pool)));
            ASSERT_LT(places_that_differ(content(pool), sorted),
                      places_that_differ(before, sorted) + (before == sorted));
            in_order = done.in_order;
            ASSERT_EQ(in_order, content(pool) == sorted);
            ++calls;
        }
        if (fixed_budget != 0) {
            const std::size_t places = fixed_budget / 2; // that each call puts in order, at least
            ASSERT_LE(calls, (count + places - 1) / places)
                << count << " objects, " << fixed_budget << " moves";
        }
        expect_consistent(pool);
    }
}

struct window_of_places {
    numbers after;
    std::size_t moves;
};

// What a window of so many places, from the first on, makes of values that are their own places.
window_of_places bring_in_order(const numbers& before, std::size_t first, std::size_t size) {
    std::set<std::uint64_t> window;
    for (std::size_t i = 0; i != size; ++i) {
        window.insert((first + i) % before.size());
    }
    std::set<std::uint64_t> leaving;
    std::vector<std::size_t> freed;
    std::size_t moves = 0;
    for (std::size_t place = 0; place != before.size(); ++place) {
        const bool inside = window.contains(place);
        moves += inside && before[place] != place ? 1U : 0U;
        if (inside != window.contains(before[place])) {
            if (inside) {
                leaving.insert(before[place]);
            } else {
                freed.push_back(place);
            }
        }
    }
    numbers after = before;
    for (const std::uint64_t place : window) {
        after[place] = place;
    }
    for (const std::size_t place : freed) {
        after[place] = leaving.extract(leaving.begin()).value();
        ++moves;
    }
    return {after, moves};
}

TEST(sorting_some, chooses_the_longest_window_that_the_moves_allow) {
    random_source random(33);
    for (int round = 0; round != 300; ++round) {
        const std::size_t count = random.below(12) + 2;
        ints pool({.name = "ints", .capacity = 100});
        fill(pool, shuffled(random, count)); // values are their own places
        std::size_t first = 0;
        while (!std::ranges::is_sorted(pool.items())) {
            const numbers before = content(pool);
            const std::size_t budget = random.below(count + 2);
            std::size_t longest = 0;
            numbers expected = before;
            for (std::size_t size = 1; size <= count; ++size) {
                const window_of_places window = bring_in_order(before, first, size);
                if (window.moves > budget) {
                    break;
                }
                longest = size;
                expected = window.after;
            }
            const sort_stats done = sort_some(pool, smaller, budget);
            ASSERT_EQ(content(pool), expected) << "from " << first << ", budget " << budget;
            ASSERT_EQ(done.in_order, std::ranges::is_sorted(expected));
            first = (first + longest) % count;
        }
    }
}

TEST(sorting_some, goes_on_after_the_store_became_smaller_or_empty) {
    random_source random(34);
    ints pool({.name = "ints", .capacity = 1000});
    fill(pool, shuffled(random, 1000));
    const auto expect_order_in = [&](std::size_t calls) {
        for (std::size_t i = 0; i != calls; ++i) {
            sort_some(pool, smaller, 500);
        }
        EXPECT_TRUE(sort_some(pool, smaller, 0).in_order);
        expect_consistent(pool);
    };
    sort_some(pool, smaller, 1800); // now it goes on near the end
    for (std::size_t i = 0; i != 900; ++i) {
        pool.erase(pool.handle_at(i));
    }
    pool.compact();
    expect_order_in(1);
    pool.shrink_to_fit();
    fill(pool, shuffled(random, 1000));
    expect_order_in(4);
    pool.clear();
    pool.compact();
    expect_order_in(1);
    pool.emplace(1U);
    pool.emplace(0U);
    pool.compact();
    expect_order_in(1);
    for (const std::uint64_t value : shuffled(random, 900)) {
        pool.emplace(value);
    }
    sort_some(pool, smaller, 500);
    pool.compact();
    expect_order_in(4);
}

TEST(sorting_some, by_threads_and_by_keys_makes_the_same_moves) {
    constexpr std::size_t count = 5000;
    random_source random(35);
    thread_executor executor(3);
    ints one({.name = "one", .capacity = count});
    ints other({.name = "other", .capacity = count});
    ints by_key({.name = "by key", .capacity = count});
    const numbers values = shuffled(random, count);
    for (ints* const each : {&one, &other, &by_key}) {
        fill(*each, values);
    }
    const auto key = [](std::uint64_t value) noexcept { return static_cast<float>(value); };
    for (bool in_order = false; !in_order;) {
        const std::size_t budget = random.below(count / 2) + 2;
        in_order = sort_some(one, smaller, budget).in_order;
        EXPECT_EQ(sort_some(other, smaller, budget, executor).in_order, in_order);
        EXPECT_EQ(sort_some_by(by_key, key, budget).in_order, in_order);
        ASSERT_EQ(content(one), content(other));
        ASSERT_EQ(content(one), content(by_key));
        EXPECT_EQ(in_order, neighbours_out_of_order(one) == 0);
    }
    expect_consistent(one);
    expect_consistent(other);
}

// What it is for: a budget of a quarter of the objects a frame, and 1 % of them replaced in each.
/// Also one in the slot of an object that had a place in the order.
struct numbered {
    std::uint32_t key;
    std::uint32_t number;
};

/// An order begins; an object ends, and `make_in_slot(pool, its handle)` makes one with the same key, in its
/// slot.
void expect_behind_equal_ones(const std::function<void(pool<numbered>&, handle<numbered>)>& make_in_slot) {
    pool<numbered> pool({.name = "numbered", .capacity = 100, .reuse_delay = 0});
    const auto first = pool.emplace(1U, 0U);
    for (std::uint32_t i = 1; i != 20; ++i) {
        pool.emplace(i < 3 ? 1U : 50 - i, i);
    }
    pool.compact();
    const auto key = [](const numbered& one) { return one.key; };
    ASSERT_FALSE(sort_some_by(pool, key, 2).in_order);
    make_in_slot(pool, first);
    while (!sort_some_by(pool, key, 4).in_order) {
    }
    numbers order;
    for (const numbered& each : pool.items()) {
        if (each.key == 1) {
            order.push_back(each.number);
        }
    }
    ASSERT_GE(order.size(), 3U);
    EXPECT_EQ(order[0], 1U);
    EXPECT_EQ(order[1], 2U);
}

TEST(sorting_some, brings_who_came_later_behind_equal_ones) {
    expect_behind_equal_ones([](pool<numbered>& pool, handle<numbered> first) {
        pool.erase(first);
        pool.compact();
        while (pool.emplace(1U, 20U).index() != first.index()) {
        }
        pool.compact();
    });
    expect_behind_equal_ones([](pool<numbered>& pool, handle<numbered> first) {
        auto alone = pool.exclusive_access();
        alone.erase(first);
        while (alone.emplace(1U, 20U).index() != first.index()) {
        }
    });
    expect_behind_equal_ones([](pool<numbered>& pool, handle<numbered> first) {
        auto alone = pool.exclusive_access();
        alone.erase(first);
        std::vector<handle<numbered>> made;
        do {
            made.clear();
            alone.emplace_n(5, std::back_inserter(made), 1U, 20U);
        } while (std::ranges::none_of(made, [&](auto each) { return each.index() == first.index(); }));
    });
}

TEST(sorting_some, keeps_a_changing_store_nearly_in_order) {
    constexpr std::size_t count = 100'000;
    random_source random(36);
    ints pool({.name = "ints", .capacity = count + count / 50});
    for (std::size_t i = 0; i != count; ++i) {
        pool.emplace(random.bits());
    }
    pool.compact();
    for (int frame = 0; frame != 20; ++frame) {
        for (std::size_t i = 0; i != count / 100; ++i) {
            while (!pool.erase(pool.handle_at(random.below(count)))) {
            }
            pool.emplace(random.bits());
        }
        pool.compact();
        ASSERT_LE(sort_some_by(pool, [](std::uint64_t value) { return value; }, count / 4).moved, count / 4);
    }
    ASSERT_EQ(pool.items().size(), count);
    const double part = static_cast<double>(neighbours_out_of_order(pool)) / count;
    EXPECT_LE(part, 0.02);
}

} // namespace
} // namespace handlepool::test

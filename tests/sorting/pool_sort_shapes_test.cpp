// SPDX-License-Identifier: MIT

// Sorts of many shapes against std::sort, by keys of many types, in one thread and in several.

#include <handlepool/pool.hpp>
#include <handlepool/sort.hpp>
#include <handlepool/thread_executor.hpp>

#include <gtest/gtest.h>
#include <tests/support/consistency.hpp>
#include <tests/support/random.hpp>
#include <tests/support/tabulate.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

struct item {
    int key = 0;
    int number = 0; // in the order of creation
};

using items = pool<item>;
using numbers = std::vector<int>;

numbers random_keys(random_source& random, std::size_t count, std::uint64_t values) {
    return tabulate(count, [&](std::size_t) { return static_cast<int>(random.below(values)) - 100; });
}

constexpr auto by_key = [](const item& a, const item& b) noexcept { return a.key < b.key; };

// What a pool must be after a sort: the same handles with the same objects, in a stable order.
void expect_sorted_like(std::string_view what, const numbers& keys,
                        const std::function<sort_stats(items&)>& sort,
                        const std::function<bool(const item&, const item&)>& before) {
    items pool({.name = "items", .capacity = std::max<std::size_t>(keys.size(), 1)});
    std::unordered_map<handle<item>, int> all;
    for (const int key : keys) {
        const int number = static_cast<int>(all.size());
        all.emplace(pool.emplace(key, number), number);
    }
    pool.compact();
    std::vector<item> expected(pool.items().begin(), pool.items().end());
    std::ranges::sort(expected, [&](const item& a, const item& b) {
        return before(a, b) || (!before(b, a) && a.number < b.number);
    });
    std::size_t misplaced = 0;
    for (std::size_t i = 0; i != expected.size(); ++i) {
        misplaced += pool.items()[i].number == expected[i].number ? 0U : 1U;
    }

    const sort_stats done = sort(pool);

    EXPECT_EQ(done.moved, misplaced) << what << ", " << keys.size();
    ASSERT_TRUE(std::ranges::equal(pool.items(), expected, {}, &item::number, &item::number))
        << what << ", " << keys.size();
    for (const auto& [handle, number] : all) {
        ASSERT_EQ(pool.at(handle).number, number);
    }
    for (std::size_t i = 0; i != expected.size(); ++i) {
        ASSERT_EQ(all.at(pool.handle_at(i)), expected[i].number);
    }
}

class shapes : public testing::TestWithParam<std::size_t> {
protected:
    // Orders that sorts are known to stumble over.
    std::vector<std::pair<std::string_view, numbers>> all() {
        const std::size_t count = GetParam();
        std::vector<std::pair<std::string_view, numbers>> made;
        made.emplace_back("random", random_keys(random, count, 1'000'000));
        made.emplace_back("few values", random_keys(random, count, 4));
        made.emplace_back("equal", numbers(count, 7));
        const auto add = [&](std::string_view name, auto key_at) {
            made.emplace_back(name,
                              tabulate(count, [&](std::size_t i) { return static_cast<int>(key_at(i)); }));
        };
        add("ascending", [](std::size_t i) { return i; });
        add("descending", [=](std::size_t i) { return count - i; });
        add("rotated", [=](std::size_t i) { return (i + 1) % count; });
        add("saw", [](std::size_t i) { return i % 17; });
        add("organ pipes", [=](std::size_t i) { return std::min(i, count - i); });
        add("swapped pairs", [](std::size_t i) { return i ^ 1U; });
        add("two ascending halves", [=](std::size_t i) { return i % (count / 2 + 1); });
        add("1 % replaced", [&](std::size_t i) { return random.one_in(100) ? random.below(count) : i; });
        add("20 % replaced", [&](std::size_t i) { return random.one_in(5) ? random.below(count) : i; });
        add("large ones first", [=](std::size_t i) { return i < count / 8 ? count + i : i; });
        return made;
    }

    random_source random{23};
};
INSTANTIATE_TEST_SUITE_P(sizes, shapes, testing::Values(2, 3, 8, 13, 100, 511, 2500));

TEST_P(shapes, sort_agrees_with_a_stable_sort) {
    for (const auto& [name, keys] : all()) {
        expect_sorted_like(name, keys, [&](items& pool) { return sort(pool, by_key); }, by_key);
    }
}

TEST_P(shapes, sort_by_agrees_with_a_stable_sort_for_keys_of_any_type) {
    const auto larger = [](const item& a, const item& b) { return b.key < a.key; };
    for (const auto& [name, keys] : all()) {
        expect_sorted_like(name, keys, [](items& pool) { return sort_by(pool, &item::key); }, by_key);
        expect_sorted_like(
            name, keys,
            [](items& pool) {
                return sort_by(pool, [](const item& i) { return -static_cast<float>(i.key); });
            },
            larger);
        expect_sorted_like(
            name, keys,
            [](items& pool) {
                return sort_by(pool, [](const item& i) { return std::int64_t{i.key} << 20; });
            },
            by_key);
        expect_sorted_like(
            name, keys,
            [](items& pool) {
                return sort_by(pool, [](const item& i) { return std::make_pair(i.key, std::string("x")); });
            },
            by_key);
    }
}

TEST_P(shapes, threads_sort_like_one_thread) {
    thread_executor executor(3);
    for (const auto& [name, keys] : all()) {
        expect_sorted_like(name, keys, [&](items& pool) { return sort(pool, by_key, executor); }, by_key);
        expect_sorted_like(
            name, keys, [&](items& pool) { return sort_by(pool, &item::key, executor); }, by_key);
        expect_sorted_like(
            name, keys,
            [&](items& pool) {
                return sort_by(
                    pool, [](const item& i) { return std::to_string(i.key + 5'000'000); }, executor);
            },
            by_key);
    }
}

TEST(sorting_by_threads, agrees_for_many_objects_in_any_number_of_blocks) {
    random_source random(24);
    thread_executor executor(4);
    for (const std::size_t count : {1024U, 1025U, 9000U, 70'001U}) {
        for (const std::uint64_t values : {3U, 1'000'000U}) {
            const numbers keys = random_keys(random, count, values);
            expect_sorted_like(
                "large", keys, [&](items& pool) { return sort(pool, by_key, executor); }, by_key);
            expect_sorted_like(
                "large", keys, [&](items& pool) { return sort_by(pool, &item::key, executor); }, by_key);
        }
        const numbers rotated =
            tabulate(count, [&](std::size_t i) { return static_cast<int>((i + 1) % count); });
        expect_sorted_like(
            "rotated", rotated, [&](items& pool) { return sort(pool, by_key, executor); }, by_key);
    }
}

TEST(sorting_by_numbers, knows_signs_zeros_and_infinities) {
    const std::vector<float> in_order{-std::numeric_limits<float>::infinity(),
                                      -1e30F,
                                      -1.0F,
                                      -std::numeric_limits<float>::denorm_min(),
                                      0.0F, // with the next two it stays in this order
                                      -0.0F,
                                      0.0F,
                                      std::numeric_limits<float>::denorm_min(),
                                      2.0F,
                                      std::numeric_limits<float>::infinity()};
    pool<float> floats({.name = "floats", .capacity = 1000});
    for (const std::size_t copies : {1U, 90U}) { // few, and enough to be sorted by digits
        floats.reset();
        for (std::size_t copy = 0; copy != copies; ++copy) {
            for (std::size_t i = in_order.size(); i != 0; --i) {
                floats.emplace(in_order[i == 5 ? 6 : i == 6 ? 5 : i == 7 ? 4 : i - 1]);
            }
        }
        floats.compact();
        std::vector<std::pair<float, std::size_t>> expected; // with their positions, so that equal ones stay
        for (const float value : floats.items()) {
            expected.emplace_back(value, expected.size());
        }
        const std::vector<float> before(floats.items().begin(), floats.items().end());
        std::ranges::sort(expected);
        sort_by(floats, [](float value) { return value; });
        for (std::size_t i = 0; i != expected.size(); ++i) {
            const float value = before[expected[i].second];
            ASSERT_EQ(floats.items()[i], value) << i;
            ASSERT_EQ(std::signbit(floats.items()[i]), std::signbit(value)) << i;
        }
    }

    const auto expect_same = [](auto first, auto last) {
        using number = decltype(first);
        pool<number> all({.name = "numbers", .capacity = 3000});
        for (int i = 0; i != 1000; ++i) {
            all.emplace(static_cast<number>(first + static_cast<number>(i % 3)));
            all.emplace(static_cast<number>(i % 2));
            all.emplace(static_cast<number>(last - static_cast<number>(i % 5)));
        }
        all.compact();
        std::vector<number> expected(all.items().begin(), all.items().end());
        std::ranges::sort(expected);
        sort_by(all, [](number value) { return value; });
        EXPECT_TRUE(std::ranges::equal(all.items(), expected));
    };
    expect_same(std::numeric_limits<std::int8_t>::min(), std::numeric_limits<std::int8_t>::max());
    expect_same(std::numeric_limits<std::uint16_t>::min(), std::numeric_limits<std::uint16_t>::max());
    expect_same(std::numeric_limits<int>::min(), std::numeric_limits<int>::max());
    expect_same(std::numeric_limits<unsigned>::min(), std::numeric_limits<unsigned>::max());
    expect_same(std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max());
}

TEST(sorting_by_numbers, puts_nan_at_an_end) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    pool<float> floats({.name = "floats", .capacity = 10});
    for (const float value : {2.0F, nan, 1.0F, -nan, 0.0F}) {
        floats.emplace(value);
    }
    floats.compact();
    sort_by(floats, [](float value) { return value; });
    EXPECT_EQ(floats.items()[1], 0.0F);
    EXPECT_EQ(floats.items()[3], 2.0F);
    EXPECT_TRUE(std::isnan(floats.items()[0]) && std::isnan(floats.items()[4]));
    expect_consistent(floats);
}

// Where the store is cut into chains, those of a size a little above a power of two are one more than of that
// size.
TEST(sorting_by_threads, agrees_a_little_above_each_number_of_chains) {
    thread_executor threads(2);
    for (const int chains : {1024, 2048, 4096}) {
        for (const int more : {0, 1, 15, 63, 64}) {
            pool<int> numbers({.name = "numbers", .capacity = 10'000});
            for (int i = chains + more; i != 0; --i) {
                numbers.emplace(i);
            }
            numbers.compact();
            sort_by(numbers, [](int each) { return each; }, threads);
            EXPECT_TRUE(std::ranges::is_sorted(numbers.items())) << chains + more;
            expect_consistent(numbers);
        }
    }
}

} // namespace
} // namespace handlepool::test

#include <handlepool/pool.hpp>
#include <handlepool/raw_pool.hpp>
#include <handlepool/thread_executor.hpp>

#include <gtest/gtest.h>
#include <support/consistency.hpp>
#include <support/hostile_types.hpp>
#include <support/random.hpp>
#include <support/threads.hpp>
#include <support/tiny_policy.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <stdexcept>
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

    bool is_before(const item& other) const { return key < other.key; }
    int negative() const { return -key; }
};

using items = pool<item>;
using numbers = std::vector<int>;

items& fill(items& pool, const numbers& keys) {
    int number = 0;
    for (const int key : keys) {
        pool.emplace(key, number++);
    }
    pool.compact();
    return pool;
}

std::vector<std::pair<int, int>> content(const items& pool) {
    std::vector<std::pair<int, int>> all;
    for (const item& each : pool.items()) {
        all.emplace_back(each.key, each.number);
    }
    return all;
}

numbers random_keys(random_source& random, std::size_t count, std::uint64_t values) {
    numbers keys(count);
    for (int& key : keys) {
        key = static_cast<int>(random.below(values)) - 100;
    }
    return keys;
}

constexpr auto by_key = [](const item& a, const item& b) { return a.key < b.key; };

TEST(sorting, of_none_and_of_one_is_nothing) {
    items pool({.name = "items", .capacity = 10});
    for (std::size_t size = 0; size != 2; ++size) {
        bool asked = false;
        const sort_stats done = pool.sort([&](const item&, const item&) { return asked = true; });
        EXPECT_FALSE(asked);
        EXPECT_TRUE(done.in_order);
        EXPECT_EQ(done.moved, 0U);
        EXPECT_EQ(done.size, size);
        pool.sort_by(&item::key);
        pool.emplace(1, 0);
        pool.compact();
    }
}

TEST(sorting, puts_objects_in_order_and_equal_ones_stay_in_theirs) {
    items pool({.name = "items", .capacity = 10});
    fill(pool, {3, 1, 2, 1, 3, 0});
    const sort_stats done = pool.sort(by_key);
    EXPECT_EQ(content(pool),
              (std::vector<std::pair<int, int>>{{0, 5}, {1, 1}, {1, 3}, {2, 2}, {3, 0}, {3, 4}}));
    EXPECT_EQ(done.moved, 5U); // all but the first 1
    EXPECT_EQ(done.size, 6U);
    EXPECT_TRUE(done.in_order);
    expect_consistent(pool);
}

TEST(sorting, takes_pointers_to_members) {
    items pool({.name = "items", .capacity = 10});
    fill(pool, {3, 1, 2});
    pool.sort(&item::is_before);
    EXPECT_EQ(content(pool), (std::vector<std::pair<int, int>>{{1, 1}, {2, 2}, {3, 0}}));
    pool.sort_by(&item::negative);
    EXPECT_EQ(content(pool), (std::vector<std::pair<int, int>>{{3, 0}, {2, 2}, {1, 1}}));
    pool.sort_by(&item::key);
    EXPECT_EQ(content(pool), (std::vector<std::pair<int, int>>{{1, 1}, {2, 2}, {3, 0}}));
}

TEST(sorting, of_objects_in_order_asks_once_for_each_pair_of_neighbours) {
    constexpr std::size_t count = 10'000;
    items pool({.name = "items", .capacity = count});
    numbers keys(count);
    for (std::size_t i = 0; i != count; ++i) {
        keys[i] = static_cast<int>(i / 2);
    }
    fill(pool, keys);
    std::atomic<std::size_t> comparisons = 0;
    const auto counting = [&](const item& a, const item& b) noexcept {
        ++comparisons;
        return a.key < b.key;
    };
    EXPECT_EQ(pool.sort(counting).moved, 0U);
    EXPECT_EQ(comparisons, count - 1);
    thread_executor executor(3);
    comparisons = 0;
    EXPECT_EQ(pool.sort(counting, executor).moved, 0U);
    EXPECT_EQ(comparisons, count - 1);
}

TEST(sorting, of_objects_nearly_in_order_is_linear) {
    constexpr std::size_t count = 20'000;
    random_source random(21);
    items pool({.name = "items", .capacity = count});
    numbers keys(count);
    for (std::size_t i = 0; i != count; ++i) {
        keys[i] = static_cast<int>(random.one_in(100) ? random.below(count) : i);
    }
    keys[1] = static_cast<int>(count) * 2; // all that follow are below it
    fill(pool, keys);
    std::size_t comparisons = 0;
    pool.sort([&](const item& a, const item& b) {
        ++comparisons;
        return a.key < b.key;
    });
    EXPECT_LT(comparisons, 3 * count);
    EXPECT_TRUE(std::ranges::is_sorted(pool.items(), {}, &item::key));
}

TEST(sorting, reads_each_key_once) {
    constexpr std::size_t count = 5000;
    random_source random(22);
    items pool({.name = "items", .capacity = count});
    fill(pool, random_keys(random, count, 1000));
    std::atomic<std::size_t> reads = 0;
    const auto key = [&](const item& object) noexcept {
        ++reads;
        return object.key;
    };
    pool.sort_by(key);
    EXPECT_EQ(reads, count);
    reads = 0;
    pool.sort_by([&](const item& object) { return std::to_string(key(object)); });
    EXPECT_EQ(reads, count);
    thread_executor executor(2);
    reads = 0;
    pool.sort_by(key, executor);
    EXPECT_EQ(reads, count);
}

// What a pool must be after a sort: the same handles with the same objects, in the order of std::stable_sort.
template <class Sort, class Before>
void expect_sorted_like(std::string_view what, const numbers& keys, Sort sort, Before before) {
    items pool({.name = "items", .capacity = std::max<std::size_t>(keys.size(), 1)});
    std::unordered_map<handle<item>, int> all;
    for (const int key : keys) {
        const int number = static_cast<int>(all.size());
        all.emplace(pool.emplace(key, number), number);
    }
    pool.compact();
    std::vector<item> expected(pool.items().begin(), pool.items().end());
    std::ranges::stable_sort(expected, before);
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
            numbers keys(count);
            for (std::size_t i = 0; i != count; ++i) {
                keys[i] = static_cast<int>(key_at(i));
            }
            made.emplace_back(name, std::move(keys));
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

TEST_P(shapes, sort_agrees_with_stable_sort) {
    const auto smaller = [](const item& a, const item& b) { return a.key < b.key; };
    for (const auto& [name, keys] : all()) {
        expect_sorted_like(name, keys, [&](items& pool) { return pool.sort(smaller); }, smaller);
    }
}

TEST_P(shapes, sort_by_agrees_with_stable_sort_for_keys_of_any_type) {
    const auto smaller = [](const item& a, const item& b) { return a.key < b.key; };
    const auto larger = [](const item& a, const item& b) { return b.key < a.key; };
    for (const auto& [name, keys] : all()) {
        expect_sorted_like(name, keys, [](items& pool) { return pool.sort_by(&item::key); }, smaller);
        expect_sorted_like(
            name, keys,
            [](items& pool) {
                return pool.sort_by([](const item& i) { return -static_cast<float>(i.key); });
            },
            larger);
        expect_sorted_like(
            name, keys,
            [](items& pool) { return pool.sort_by([](const item& i) { return std::int64_t{i.key} << 20; }); },
            smaller);
        expect_sorted_like(
            name, keys,
            [](items& pool) {
                return pool.sort_by([](const item& i) { return std::make_pair(i.key, std::string("x")); });
            },
            smaller);
    }
}

TEST_P(shapes, threads_sort_like_one_thread) {
    const auto smaller = [](const item& a, const item& b) noexcept { return a.key < b.key; };
    thread_executor executor(3);
    for (const auto& [name, keys] : all()) {
        expect_sorted_like(name, keys, [&](items& pool) { return pool.sort(smaller, executor); }, smaller);
        expect_sorted_like(
            name, keys, [&](items& pool) { return pool.sort_by(&item::key, executor); }, smaller);
        expect_sorted_like(
            name, keys,
            [&](items& pool) {
                return pool.sort_by([](const item& i) { return std::to_string(i.key + 5'000'000); },
                                    executor);
            },
            smaller);
    }
}

TEST(sorting_by_threads, agrees_for_many_objects_in_any_number_of_blocks) {
    random_source random(24);
    thread_executor executor(4);
    for (const std::size_t count : {1024U, 1025U, 9000U, 70'001U}) {
        for (const std::uint64_t values : {3U, 1'000'000U}) {
            const numbers keys = random_keys(random, count, values);
            expect_sorted_like(
                "large", keys, [&](items& pool) { return pool.sort(by_key, executor); }, by_key);
            expect_sorted_like(
                "large", keys, [&](items& pool) { return pool.sort_by(&item::key, executor); }, by_key);
        }
        numbers rotated(count);
        for (std::size_t i = 0; i != count; ++i) {
            rotated[i] = static_cast<int>((i + 1) % count);
        }
        expect_sorted_like(
            "rotated", rotated, [&](items& pool) { return pool.sort(by_key, executor); }, by_key);
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
        std::vector<float> expected(floats.items().begin(), floats.items().end());
        std::ranges::stable_sort(expected);
        floats.sort_by([](float value) { return value; });
        for (std::size_t i = 0; i != expected.size(); ++i) {
            ASSERT_EQ(floats.items()[i], expected[i]) << i;
            ASSERT_EQ(std::signbit(floats.items()[i]), std::signbit(expected[i])) << i;
        }
    }

    const auto expect_same = [](auto first, auto last) {
        using number = decltype(first);
        pool<number> all({.name = "numbers", .capacity = 3000});
        for (int i = 0; i != 1000; ++i) {
            all.emplace(static_cast<number>(first + i % 3));
            all.emplace(static_cast<number>(i % 2));
            all.emplace(static_cast<number>(last - i % 5));
        }
        all.compact();
        std::vector<number> expected(all.items().begin(), all.items().end());
        std::ranges::sort(expected);
        all.sort_by([](number value) { return value; });
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
    floats.sort_by([](float value) { return value; });
    EXPECT_EQ(floats.items()[1], 0.0F);
    EXPECT_EQ(floats.items()[3], 2.0F);
    EXPECT_TRUE(std::isnan(floats.items()[0]) && std::isnan(floats.items()[4]));
    expect_consistent(floats);
}

// An order that contradicts itself must not lose or double an object.
TEST(sorting, by_nonsense_keeps_all_objects) {
    random_source random(25);
    thread_executor executor(3);
    for (const std::size_t count : {2U, 9U, 100U, 5000U}) {
        census counts;
        pool<counted> pool({.name = "counted", .capacity = count});
        std::unordered_map<handle<counted>, std::uint64_t> all;
        for (std::uint64_t i = 0; i != count; ++i) {
            all.emplace(pool.emplace(counts, i), i);
        }
        pool.compact();
        std::atomic<std::uint64_t> calls = random.bits();
        const auto any = [&](const counted& a, const counted& b) noexcept {
            return ((++calls * 0x9e37'79b9'7f4a'7c15U + a.value() * b.value()) >> 40 & 1U) != 0;
        };
        const auto hostile = [](const counted& a, const counted& b) noexcept {
            return (a.value() * 31 + b.value() * 17) % 3 == 1;
        };
        for (int round = 0; round != 3; ++round) {
            pool.sort(any);
            pool.sort(any, executor);
            pool.sort(hostile);
            pool.sort(hostile, executor);
            pool.sort([](const counted&, const counted&) { return true; });
            pool.sort_some(any, count / 2);
        }
        for (const auto& [handle, value] : all) {
            ASSERT_EQ(pool.at(handle).value(), value);
        }
        expect_consistent(pool);
        EXPECT_EQ(counts.misused(), 0);
        EXPECT_EQ(counts.alive(), static_cast<std::int64_t>(count));
    }
}

TEST(sorting, that_throws_changes_nothing) {
    constexpr int count = 300;
    random_source random(26);
    items pool({.name = "items", .capacity = count});
    fill(pool, random_keys(random, count, 1000));
    const auto before = content(pool);
    const auto expect_unchanged = [&](auto action) {
        std::int64_t passes = 0;
        for (bool thrown = true; thrown; passes += 1 + passes / 3) {
            fuse when(passes);
            try {
                action(when);
                thrown = false;
            } catch (const construction_failure&) {
                ASSERT_EQ(content(pool), before);
                ASSERT_TRUE(pool.try_compact()) << "the gate is open again";
            }
        }
        EXPECT_GT(passes, count);
        EXPECT_NE(content(pool), before);
        pool.sort_by(&item::number);
        ASSERT_EQ(content(pool), before);
        expect_consistent(pool);
    };
    const auto compare = [](fuse& when) {
        return [&when](const item& a, const item& b) {
            when.burn();
            return a.key < b.key;
        };
    };
    expect_unchanged([&](fuse& when) { pool.sort(compare(when)); });
    expect_unchanged([&](fuse& when) { pool.sort_some(compare(when), count); });
    expect_unchanged([&](fuse& when) {
        pool.sort_by([&](const item& object) {
            when.burn();
            return object.key;
        });
    });
    expect_unchanged([&](fuse& when) {
        pool.sort_by([&](const item& object) {
            when.burn();
            return std::to_string(object.key + 1000);
        });
    });
}

TEST(sorting, lets_comparisons_look_up_objects_and_create_some) {
    pool<item> pool({.name = "items", .capacity = 100});
    std::vector<handle<item>> handles;
    for (const int key : {5, 3, 9, 1}) {
        handles.push_back(pool.emplace(key, 0));
    }
    pool.compact();
    std::size_t created = 0;
    pool.sort([&](const item& a, const item& b) {
        EXPECT_EQ(&pool.at(pool.handle_of(a)), &a);
        EXPECT_EQ(pool.at(handles[2]).key, 9);
        pool.emplace(0, 0);
        ++created;
        EXPECT_THROW(pool.compact(), compaction_conflict);
        EXPECT_THROW(pool.sort_by(&item::key), compaction_conflict);
        EXPECT_THROW(static_cast<void>(pool.access()), compaction_conflict);
        EXPECT_FALSE(pool.try_access());
        return a.key < b.key;
    });
    EXPECT_EQ(pool.items()[0].key, 1);
    EXPECT_EQ(pool.items()[3].key, 9);
    EXPECT_EQ(pool.compact().born, created);
}

TEST(sorting, moves_erased_objects_too_and_leaves_newborns_where_they_are) {
    items pool({.name = "items", .capacity = 10});
    std::vector<handle<item>> handles;
    for (const int key : {4, 3, 2, 1}) {
        handles.push_back(pool.emplace(key, 0));
    }
    pool.compact();
    pool.erase(handles[1]);
    const auto young = pool.emplace(0, 0);
    const item* const place = pool.find(young);
    EXPECT_EQ(pool.sort_by(&item::key).moved, 4U);
    EXPECT_EQ(pool.items()[2].key, 3);
    EXPECT_FALSE(pool.contains(pool.handle_at(2)));
    EXPECT_EQ(pool.find(young), place);
    EXPECT_EQ(pool.compact().removed, 1U);
    EXPECT_EQ(pool.at(young).key, 0);
    EXPECT_EQ(pool.at(handles[0]).key, 4);
    expect_consistent(pool);
}

TEST(sorting, is_refused_where_a_compaction_is) {
    items pool({.name = "items", .capacity = 10});
    fill(pool, {2, 1});
    {
        const auto guard = pool.access();
        EXPECT_THROW(pool.sort_by(&item::key), compaction_conflict);
        EXPECT_THROW(pool.sort_some(by_key, 10), compaction_conflict);
    }
    EXPECT_EQ(pool.sort_by(&item::key).moved, 2U);

    handlepool::pool<re_entrant> callers({.name = "callers", .capacity = 10});
    std::size_t refused = 0;
    callers.erase(callers.emplace(re_entrant::callback{}, [&] {
        try {
            callers.sort([](const re_entrant& a, const re_entrant& b) { return &a < &b; });
        } catch (const compaction_conflict&) {
            ++refused;
        }
    }));
    callers.compact();
    EXPECT_EQ(refused, 1U);
}

TEST(sorting, waits_for_guards_of_other_threads) {
    items pool({.name = "items", .capacity = 10});
    fill(pool, {2, 1});
    std::atomic<bool> sorted = false;
    std::atomic<bool> held = false;
    in_threads(2, [&](std::size_t thread) {
        if (thread == 0) {
            const auto guard = pool.access();
            held = true;
            const item* const first = pool.items().data();
            for (int i = 0; i != 1000; ++i) {
                EXPECT_FALSE(sorted);
                EXPECT_EQ(const_cast<const volatile item*>(first)->key, 2);
            }
        } else {
            while (!held) {
            }
            pool.sort_by(&item::key);
            sorted = true;
        }
    });
    EXPECT_EQ(pool.items()[0].key, 1);
}

// Handles are created, erased and asked for while objects move; afterwards all is as an oracle says.
template <class Policy>
void sort_beside_handle_operations(std::optional<unsigned> sorters) {
    constexpr std::size_t thread_count = 3;
    constexpr std::size_t each = 400;
    random_source random(27);
    census counts;
    {
        pool<counted, default_layout, Policy> pool(
            {.name = "busy", .capacity = 4 * thread_count * each, .reuse_delay = 0});
        using handle_type = handle<counted>;
        std::vector<std::unordered_map<handle_type, std::uint64_t>> mine(thread_count);
        std::vector<std::mt19937_64> engines;
        std::vector<std::size_t> errors(thread_count);
        for (std::size_t thread = 0; thread != thread_count; ++thread) {
            engines.push_back(random.fork());
        }
        thread_executor executor(sorters.value_or(1));
        for (int round = 0; round != 20; ++round) {
            in_threads(thread_count + 1, [&](std::size_t thread) {
                if (thread == thread_count) {
                    const auto key = [](const counted& object) noexcept { return object.value(); };
                    for (int i = 0; i != 4; ++i) {
                        sorters ? pool.sort_by(key, executor) : pool.sort_by(key);
                        pool.sort_some(
                            [](const counted& a, const counted& b) { return a.value() > b.value(); }, each);
                        if (i == 2) {
                            pool.compact();
                        }
                    }
                    return;
                }
                auto& living = mine[thread];
                std::mt19937_64& engine = engines[thread];
                for (std::size_t i = 0; i != each; ++i) {
                    const std::uint64_t value = engine();
                    if (value % 2 == 0 && living.size() < 2 * each) {
                        living.emplace(pool.emplace(counts, value), value);
                    } else if (!living.empty()) {
                        const handle_type victim = living.begin()->first;
                        errors[thread] += pool.contains(victim) ? 0U : 1U;
                        errors[thread] += pool.erase(victim) ? 0U : 1U;
                        errors[thread] += pool.contains(victim) ? 1U : 0U;
                        living.erase(victim);
                    }
                }
            });
            const auto guard = pool.access();
            for (std::size_t thread = 0; thread != thread_count; ++thread) {
                EXPECT_EQ(errors[thread], 0U);
                for (const auto& [handle, value] : mine[thread]) {
                    ASSERT_EQ(pool.at(handle).value(), value);
                }
            }
        }
        expect_consistent(pool);
        pool.sort_by([](const counted& object) { return object.value(); });
        EXPECT_TRUE(std::ranges::is_sorted(pool.items(), {}, &counted::value));
    }
    EXPECT_EQ(counts.misused(), 0);
    EXPECT_EQ(counts.alive(), 0);
}

TEST(sorting, leaves_handles_right_while_others_use_them) {
    sort_beside_handle_operations<default_policy>(std::nullopt);
    sort_beside_handle_operations<support::tiny_policy<2>>(std::nullopt);
}

TEST(sorting_by_threads, leaves_handles_right_while_others_use_them) {
    sort_beside_handle_operations<support::tiny_policy<2>>(3U);
}

template <class T>
class sorted_type : public testing::Test {};
using types = testing::Types<counted, over_aligned<64>, over_aligned<4096>, move_only>;
TYPED_TEST_SUITE(sorted_type, types);

TYPED_TEST(sorted_type, is_moved_whole_by_one_thread_and_by_several) {
    constexpr std::size_t count = 3000;
    random_source random(28);
    thread_executor executor(3);
    census counts;
    {
        pool<TypeParam> pool({.name = "objects", .capacity = count});
        std::vector<std::uint64_t> values;
        for (std::size_t i = 0; i != count; ++i) {
            values.push_back(random.below(count));
            if constexpr (std::is_same_v<TypeParam, counted>) {
                pool.emplace(counts, values.back());
            } else {
                pool.emplace(values.back());
            }
        }
        pool.compact();
        const auto value_of = [](const TypeParam& object) noexcept -> std::uint64_t {
            if constexpr (requires { object.is_aligned(); }) {
                EXPECT_TRUE(object.is_aligned());
                return object.value;
            } else {
                return object.value();
            }
        };
        const auto expect_values = [&] {
            ASSERT_TRUE(std::ranges::equal(pool.items(), values, {}, value_of));
            expect_consistent(pool);
        };
        std::ranges::sort(values);
        pool.sort_by(value_of);
        expect_values();
        std::ranges::reverse(values);
        pool.sort([&](const TypeParam& a, const TypeParam& b) noexcept { return value_of(b) < value_of(a); },
                  executor);
        expect_values();
    }
    EXPECT_EQ(counts.misused(), 0);
    EXPECT_EQ(counts.alive(), 0);
}

template <std::size_t Bytes>
void sort_bytes() {
    constexpr std::size_t count = 2000;
    random_source random(29);
    thread_executor executor(2);
    pool<sized<Bytes>> pool({.name = "bytes", .capacity = count});
    for (std::size_t i = 0; i != count; ++i) {
        pool.emplace(random.bits());
    }
    pool.compact();
    const auto larger = [](const sized<Bytes>& a, const sized<Bytes>& b) noexcept {
        return b.value() < a.value();
    };
    pool.sort_by(&sized<Bytes>::value);
    EXPECT_TRUE(std::ranges::is_sorted(pool.items(), {}, &sized<Bytes>::value));
    pool.sort(larger, executor);
    EXPECT_TRUE(std::ranges::is_sorted(pool.items(), larger));
    EXPECT_TRUE(std::ranges::all_of(pool.items(), &sized<Bytes>::is_whole));
    expect_consistent(pool);
}

TEST(sorting, moves_objects_of_any_size) {
    sort_bytes<1>();
    sort_bytes<3>();
    sort_bytes<12>();
    sort_bytes<1000>();
}

TEST(sorting_raw_pools, orders_objects_by_what_their_memory_holds) {
    struct record {
        std::uint32_t key;
        std::uint32_t check;
        char rest[40];
    };
    constexpr std::size_t count = 2000;
    random_source random(30);
    thread_executor executor(2);
    raw_pool<> pool({.name = "records", .capacity = count}, {.size = sizeof(record), .alignment = 64});
    std::vector<std::pair<raw_pool<>::handle_type, std::uint32_t>> all;
    for (std::size_t i = 0; i != count; ++i) {
        const auto key = static_cast<std::uint32_t>(random.below(500));
        all.emplace_back(pool.emplace([=](void* memory) { ::new (memory) record{key, ~key, {}}; }), key);
    }
    pool.compact();
    const auto key_of = [](const void* object) noexcept { return static_cast<const record*>(object)->key; };
    const auto smaller = [=](const void* a, const void* b) noexcept { return key_of(a) < key_of(b); };
    const auto larger = [=](const void* a, const void* b) noexcept { return key_of(a) > key_of(b); };
    const auto expect_order = [&](auto wrong) {
        for (std::size_t i = 1; i != count; ++i) {
            ASSERT_FALSE(wrong(pool.items()[i], pool.items()[i - 1]));
        }
        for (const auto& [handle, key] : all) {
            ASSERT_EQ(key_of(pool.at(handle)), key);
            ASSERT_EQ(static_cast<const record*>(pool.at(handle))->check, ~key);
            ASSERT_EQ(pool.handle_of(pool.at(handle)), handle);
        }
    };
    pool.sort(smaller);
    expect_order(smaller);
    pool.sort(larger, executor);
    expect_order(larger);
    pool.sort_by(key_of);
    expect_order(smaller);
    while (!pool.sort_some(larger, count / 2).in_order) {
    }
    expect_order(larger);
    while (!pool.sort_some_by(key_of, count / 2, executor).in_order) {
    }
    expect_order(smaller);
}

TEST(sorting_raw_pools, moves_objects_by_their_own_function) {
    std::size_t relocated = 0;
    const raw_type type{.size = sizeof(int),
                        .alignment = alignof(int),
                        .relocate =
                            [](void* to, void* from, void* context) noexcept {
                                ++*static_cast<std::size_t*>(context);
                                *static_cast<int*>(to) = *static_cast<int*>(from);
                            },
                        .context = &relocated};
    raw_pool<> pool({.name = "ints", .capacity = 10}, type);
    for (const int value : {2, 3, 4, 1, 9, 8}) {
        pool.emplace([=](void* memory) { ::new (memory) int(value); });
    }
    pool.compact();
    relocated = 0;
    const sort_stats done = pool.sort_by([](const void* object) { return *static_cast<const int*>(object); });
    EXPECT_EQ(done.moved, 6U);
    EXPECT_EQ(relocated, done.moved + 2) << "one more for each of the two cycles";
}

// Keys may refer to their objects, and an order need not be by `<` of the whole.
TEST(sorting, by_views_of_the_objects) {
    pool<std::string> names({.name = "names", .capacity = 100});
    for (const char* const name : {"delta", "alpha", "a name too long for the string itself", "beta"}) {
        names.emplace(name);
    }
    names.compact();
    names.sort_by([](const std::string& name) { return std::string_view(name); });
    EXPECT_EQ(names.items()[0], "a name too long for the string itself");
    EXPECT_EQ(names.items()[3], "delta");
    names.sort(std::greater<>());
    EXPECT_EQ(names.items()[0], "delta");
    names.sort_by(&std::string::size);
    EXPECT_EQ(names.items()[0], "beta");
}

template <class Pool, class Function>
concept sortable_by = requires(Pool& pool, Function function) { pool.sort_by(function); };
template <class Pool, class Function>
concept sortable = requires(Pool& pool, Function function) { pool.sort(function); };

TEST(sorting, refuses_what_orders_nothing_when_it_is_compiled) {
    struct no_order {};
    static_assert(sortable_by<items, int item::*> && sortable<items, std::less<>> == false);
    static_assert(!sortable_by<items, no_order (*)(const item&)>, "keys need a <");
    static_assert(!sortable_by<items, int (*)(item&)>, "a key must not change its object");
    static_assert(!sortable<items, bool (*)(item&, item&)>);
    static_assert(!sortable<raw_pool<>, bool (*)(void*, void*)>);
    static_assert(sortable<raw_pool<>, bool (*)(const void*, const void*)>);
}

} // namespace
} // namespace handlepool::test

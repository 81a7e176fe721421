// SPDX-License-Identifier: MIT
#include <handlepool/pool.hpp>
#include <handlepool/raw_pool.hpp>
#include <handlepool/sort.hpp>
#include <handlepool/thread_executor.hpp>

#include <gtest/gtest.h>
#include <support/steps/tiny_policy.hpp>
#include <tests/support/consistency.hpp>
#include <tests/support/hostile_types.hpp>
#include <tests/support/order_checks.hpp>
#include <tests/support/random.hpp>
#include <tests/support/tabulate.hpp>
#include <tests/support/threads.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
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
        const sort_stats done = sort(pool, [&](const item&, const item&) { return asked = true; });
        EXPECT_FALSE(asked);
        EXPECT_TRUE(done.in_order);
        EXPECT_EQ(done.moved, 0U);
        EXPECT_EQ(done.size, size);
        sort_by(pool, &item::key);
        pool.emplace(1, 0);
        pool.compact();
    }
}

TEST(sorting, puts_objects_in_order_and_equal_ones_stay_in_theirs) {
    items pool({.name = "items", .capacity = 10});
    fill(pool, {3, 1, 2, 1, 3, 0});
    const sort_stats done = sort(pool, by_key);
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
    sort(pool, &item::is_before);
    EXPECT_EQ(content(pool), (std::vector<std::pair<int, int>>{{1, 1}, {2, 2}, {3, 0}}));
    sort_by(pool, &item::negative);
    EXPECT_EQ(content(pool), (std::vector<std::pair<int, int>>{{3, 0}, {2, 2}, {1, 1}}));
    sort_by(pool, &item::key);
    EXPECT_EQ(content(pool), (std::vector<std::pair<int, int>>{{1, 1}, {2, 2}, {3, 0}}));
}

TEST(sorting, of_objects_in_order_asks_once_for_each_pair_of_neighbours) {
    constexpr std::size_t count = 10'000;
    items pool({.name = "items", .capacity = count});
    fill(pool, tabulate(count, [](std::size_t i) { return static_cast<int>(i / 2); }));
    std::atomic<std::size_t> comparisons = 0;
    const auto counting = [&](const item& a, const item& b) noexcept {
        ++comparisons;
        return a.key < b.key;
    };
    EXPECT_EQ(sort(pool, counting).moved, 0U);
    EXPECT_EQ(comparisons, count - 1 + comparisons_to_check(count));
    thread_executor executor(3);
    comparisons = 0;
    EXPECT_EQ(sort(pool, counting, executor).moved, 0U);
    EXPECT_EQ(comparisons, count - 1 + comparisons_to_check(count));
}

TEST(sorting, of_objects_nearly_in_order_is_linear) {
    constexpr std::size_t count = 20'000;
    random_source random(21);
    items pool({.name = "items", .capacity = count});
    numbers keys = tabulate(
        count, [&](std::size_t i) { return static_cast<int>(random.one_in(100) ? random.below(count) : i); });
    keys[1] = static_cast<int>(count) * 2; // all that follow are below it
    fill(pool, keys);
    std::size_t comparisons = 0;
    sort(pool, [&](const item& a, const item& b) {
        ++comparisons;
        return a.key < b.key;
    });
    EXPECT_LT(comparisons, 3 * count + comparisons_to_check(count));
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
    sort_by(pool, key);
    EXPECT_EQ(reads, count);
    reads = 0;
    sort_by(pool, [&](const item& object) { return std::to_string(key(object)); });
    EXPECT_EQ(reads, count);
    thread_executor executor(2);
    reads = 0;
    sort_by(pool, key, executor);
    EXPECT_EQ(reads, count);
}

#if HANDLEPOOL_CHECKED

TEST(sorting_death, by_nonsense_is_refused) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    items pool({.name = "items", .capacity = 10});
    fill(pool, {2, 1, 0});
    const auto sort_by_threads = [&](auto compare) {
        thread_executor executor(3);
        sort(pool, compare, executor);
    };
    const auto always = [](const item&, const item&) noexcept { return true; };
    const auto hostile = [](const item& a, const item& b) noexcept {
        return (a.key * 31 + b.key * 17) % 3 == 1;
    };
    const std::string refusal = "^handlepool: pool 'items': sorted by what is no strict weak order: ";
    const std::string of_always = refusal + "compare\\(a, a\\) is true for the object at position 0\n$";
    const std::string of_hostile = refusal + "compare\\(b, a\\) is true, and others put a before b, for the "
                                             "objects a at position 0 and b at position 2\n$";
    EXPECT_DEATH(sort(pool, always), of_always);
    EXPECT_DEATH(sort_by_threads(always), of_always);
    EXPECT_DEATH(sort_some(pool, always, 2), of_always);
    EXPECT_DEATH(sort(pool, hostile), of_hostile);
    EXPECT_DEATH(sort_by_threads(hostile), of_hostile);
    EXPECT_DEATH(sort_some(pool, hostile, 2), of_hostile);
}

#else

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
            sort(pool, any);
            sort(pool, any, executor);
            sort(pool, hostile);
            sort(pool, hostile, executor);
            sort(pool, [](const counted&, const counted&) { return true; });
            sort_some(pool, any, count / 2);
        }
        for (const auto& [handle, value] : all) {
            ASSERT_EQ(pool.at(handle).value(), value);
        }
        expect_consistent(pool);
        EXPECT_EQ(counts.alive(), static_cast<std::int64_t>(count));
    }
}

#endif

TEST(sorting, that_throws_changes_nothing) {
    constexpr int count = 2000; // more than a block
    random_source random(26);
    items pool({.name = "items", .capacity = count});
    fill(pool, random_keys(random, count, 1000));
    const auto before = content(pool);
    thread_executor executor(3);
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
        sort_by(pool, &item::number);
        ASSERT_EQ(content(pool), before);
        expect_consistent(pool);
    };
    const auto compare = [](fuse& when) {
        return [&when](const item& a, const item& b) {
            when.burn();
            return a.key < b.key;
        };
    };
    expect_unchanged([&](fuse& when) { sort(pool, compare(when)); });
    expect_unchanged([&](fuse& when) { sort_some(pool, compare(when), count); });
    expect_unchanged([&](fuse& when) {
        sort_by(pool, [&](const item& object) {
            when.burn();
            return object.key;
        });
    });
    const auto text_of = [](fuse& when) {
        return [&when](const item& object) {
            when.burn();
            return std::to_string(object.key + 1000) + " is too long to be kept in place";
        };
    };
    expect_unchanged([&](fuse& when) { sort_by(pool, text_of(when)); });
    expect_unchanged([&](fuse& when) { sort(pool, compare(when), executor); });
    expect_unchanged([&](fuse& when) { sort_some(pool, compare(when), count, executor); });
    expect_unchanged([&](fuse& when) { sort_by(pool, text_of(when), executor); });
}

TEST(sorting, lets_comparisons_look_up_objects_and_create_some) {
    pool<item> pool({.name = "items", .capacity = 100});
    std::vector<handle<item>> handles;
    for (const int key : {5, 3, 9, 1}) {
        handles.push_back(pool.emplace(key, 0));
    }
    pool.compact();
    std::size_t created = 0;
    sort(pool, [&](const item& a, const item& b) {
        EXPECT_EQ(&pool.at(pool.handle_of(a)), &a);
        EXPECT_EQ(pool.at(handles[2]).key, 9);
        pool.emplace(0, 0);
        ++created;
        EXPECT_THROW(pool.compact(), compaction_conflict);
        EXPECT_THROW(sort_by(pool, &item::key), compaction_conflict);
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
    EXPECT_EQ(sort_by(pool, &item::key).moved, 4U);
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
        EXPECT_THROW(sort_by(pool, &item::key), compaction_conflict);
        EXPECT_THROW(sort_some(pool, by_key, 10), compaction_conflict);
    }
    EXPECT_EQ(sort_by(pool, &item::key).moved, 2U);

    handlepool::pool<re_entrant> callers({.name = "callers", .capacity = 10});
    std::size_t calls = 0;
    callers.erase(callers.emplace(re_entrant::callback{}, [&] {
        EXPECT_THROW(sort(callers, [](const re_entrant& a, const re_entrant& b) { return &a < &b; }),
                     compaction_conflict);
        ++calls;
    }));
    callers.compact();
    EXPECT_EQ(calls, 1U);
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
            sort_by(pool, &item::key);
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
    pool<counted, with_policy<Policy>> pool(
        {.name = "busy", .capacity = 4 * thread_count * each, .reuse_delay = 0});
    using handle_type = handle<counted>;
    std::vector<std::unordered_map<handle_type, std::uint64_t>> mine(thread_count);
    std::vector<std::size_t> errors(thread_count);
    auto engines = tabulate(thread_count, [&](std::size_t) { return random.fork(); });
    thread_executor executor(sorters.value_or(1));
    for (int round = 0; round != 20; ++round) {
        in_threads(thread_count + 1, [&](std::size_t thread) {
            if (thread == thread_count) {
                const auto key = [](const counted& object) noexcept { return object.value(); };
                for (int i = 0; i != 4; ++i) {
                    sorters ? sort_by(pool, key, executor) : sort_by(pool, key);
                    sort_some(
                        pool, [](const counted& a, const counted& b) { return a.value() > b.value(); }, each);
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
    sort_by(pool, [](const counted& object) { return object.value(); });
    EXPECT_TRUE(std::ranges::is_sorted(pool.items(), {}, &counted::value));
}

TEST(sorting, leaves_handles_right_while_others_use_them) {
    sort_beside_handle_operations<default_policy>(std::nullopt);
    sort_beside_handle_operations<support::tiny_policy<2>>(std::nullopt);
}

TEST(sorting_by_threads, leaves_handles_right_while_others_use_them) {
    sort_beside_handle_operations<support::tiny_policy<2>>(3U);
}

// Keys may refer to their objects, and an order need not be by `<` of the whole.
TEST(sorting, by_views_of_the_objects) {
    pool<std::string> names({.name = "names", .capacity = 100});
    for (const char* const name : {"delta", "alpha", "a name too long for the string itself", "beta"}) {
        names.emplace(name);
    }
    names.compact();
    sort_by(names, [](const std::string& name) { return std::string_view(name); });
    EXPECT_EQ(names.items()[0], "a name too long for the string itself");
    EXPECT_EQ(names.items()[3], "delta");
    sort(names, std::greater<>());
    EXPECT_EQ(names.items()[0], "delta");
    sort_by(names, &std::string::size);
    EXPECT_EQ(names.items()[0], "beta");
}

template <class Pool, class Function>
concept sortable_by = requires(Pool& pool, Function function) { sort_by(pool, function); };
template <class Pool, class Function>
concept sortable = requires(Pool& pool, Function function) { sort(pool, function); };

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

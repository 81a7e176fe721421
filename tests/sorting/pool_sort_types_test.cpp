// SPDX-License-Identifier: MIT

// Sorts move objects of any type, size and alignment, also those that are known at run time only.

#include <handlepool/pool.hpp>
#include <handlepool/raw_pool.hpp>
#include <handlepool/sort.hpp>
#include <handlepool/thread_executor.hpp>

#include <gtest/gtest.h>
#include <tests/support/consistency.hpp>
#include <tests/support/hostile_types.hpp>
#include <tests/support/random.hpp>
#include <tests/support/tabulate.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <new>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

template <class T>
class sorted_type : public testing::Test {};
using types = testing::Types<counted, over_aligned<64>, over_aligned<4096>, move_only>;
TYPED_TEST_SUITE(sorted_type, types);

TYPED_TEST(sorted_type, is_moved_whole_by_one_thread_and_by_several) {
    constexpr std::size_t count = 3000;
    random_source random(28);
    thread_executor executor(3);
    census counts;
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
    sort_by(pool, value_of);
    expect_values();
    std::ranges::reverse(values);
    sort(
        pool, [&](const TypeParam& a, const TypeParam& b) noexcept { return value_of(b) < value_of(a); },
        executor);
    expect_values();
}

/// Keys that are small and can be copied, but not assigned.
struct constant_key {
    const int value;
    friend bool operator<(const constant_key& a, const constant_key& b) { return a.value < b.value; }
};

TEST(sorting, by_keys_that_can_not_be_assigned) {
    thread_executor executor(2);
    pool<int> pool({.name = "numbers", .capacity = 10});
    for (const int each : {3, 1, 2}) {
        pool.emplace(each);
    }
    pool.compact();
    EXPECT_EQ(sort_by(pool, [](int each) { return constant_key{each}; }).moved, 3U);
    EXPECT_TRUE(std::ranges::equal(pool.items(), std::vector{1, 2, 3}));
    EXPECT_EQ(sort_by(pool, [](int each) { return constant_key{-each}; }, executor).moved, 2U);
    EXPECT_TRUE(std::ranges::equal(pool.items(), std::vector{3, 2, 1}));
    EXPECT_TRUE(sort_some_by(pool, [](int each) { return constant_key{each}; }, 2).in_order);
    EXPECT_TRUE(std::ranges::equal(pool.items(), std::vector{1, 2, 3}));
}

/// Keys too large for what is sorted in place of the objects, of which the living are counted.
struct large_key {
    explicit large_key(int number) noexcept : value(number) { ++alive; }
    large_key(const large_key& other) noexcept : value(other.value) { ++alive; }
    ~large_key() { --alive; }
    large_key& operator=(const large_key&) = delete;
    friend bool operator<(const large_key& a, const large_key& b) noexcept { return a.value < b.value; }

    static inline std::atomic<int> alive{0};
    const int value;
};

TEST(sorting, ends_the_keys_that_were_made_before_one_throws_and_no_others) {
    constexpr int count = 3000;
    thread_executor executor(2);
    pool<int> pool({.name = "numbers", .capacity = count});
    for (int i = 0; i != count; ++i) {
        pool.emplace(count - i);
    }
    pool.compact();
    for (const int failing : {1, 7, count / 2, count}) {
        const auto key = [failing](int each) {
            if (each == failing) {
                throw construction_failure();
            }
            return large_key(each);
        };
        EXPECT_THROW(sort_by(pool, key), construction_failure);
        EXPECT_EQ(large_key::alive, 0) << failing;
        EXPECT_THROW(sort_by(pool, key, executor), construction_failure);
        EXPECT_EQ(large_key::alive, 0) << failing;
        EXPECT_EQ(pool.items().front(), count);
    }
}

// Also those at places that lie where the work of threads is divided.
TEST(sorting, by_threads_touches_no_object_that_is_in_its_place) {
    thread_executor executor(3);
    pool<std::string> names({.name = "names", .capacity = 3000});
    const auto expected = tabulate(
        3000, [&](int i) { return std::to_string(10'000 + i) + " is a name that has memory of its own"; });
    for (std::size_t i = 0; i != expected.size(); ++i) {
        names.emplace(expected[i == 1 ? 2 : i == 2 ? 1 : i]);
    }
    names.compact();
    EXPECT_EQ(sort(names, std::less<>(), executor).moved, 2U);
    EXPECT_TRUE(std::ranges::equal(names.items(), expected));
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
    sort_by(pool, &sized<Bytes>::value);
    EXPECT_TRUE(std::ranges::is_sorted(pool.items(), {}, &sized<Bytes>::value));
    sort(pool, larger, executor);
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
    sort(pool, smaller);
    expect_order(smaller);
    sort(pool, larger, executor);
    expect_order(larger);
    sort_by(pool, key_of);
    expect_order(smaller);
    while (!sort_some(pool, larger, count / 2).in_order) {
    }
    expect_order(larger);
    while (!sort_some_by(pool, key_of, count / 2, executor).in_order) {
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
    const sort_stats done =
        sort_by(pool, [](const void* object) { return *static_cast<const int*>(object); });
    EXPECT_EQ(done.moved, 6U);
    EXPECT_EQ(relocated, done.moved + 2) << "one more for each of the two cycles";
}

} // namespace
} // namespace handlepool::test

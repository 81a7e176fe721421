// SPDX-License-Identifier: MIT

// erase_if: objects erased by a predicate.

#include <handlepool/pool.hpp>
#include <handlepool/raw_pool.hpp>
#include <handlepool/thread_executor.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tests/support/consistency.hpp>
#include <tests/support/hostile_types.hpp>
#include <tests/support/threads.hpp>

#include <atomic>
#include <cstddef>
#include <functional>
#include <map>
#include <new>
#include <stdexcept>
#include <vector>

namespace handlepool::test {
namespace {

using testing::ElementsAre;

using ints = pool<int>;

constexpr auto odd = [](const int& object) { return object % 2 != 0; };

/// The values from 0 on; the first of them are in the dense store, the others newborn.
std::vector<handle<int>> fill(ints& pool, std::size_t dense, std::size_t newborn) {
    std::vector<handle<int>> handles;
    const auto next = [&](std::size_t) { return static_cast<int>(handles.size()); };
    for (std::size_t i = 0; i != dense; ++i) {
        handles.push_back(pool.emplace(next(i)));
    }
    pool.compact();
    for (std::size_t i = 0; i != newborn; ++i) {
        handles.push_back(pool.emplace(next(i)));
    }
    return handles;
}

TEST(erase_if, erases_what_the_predicate_names_in_the_dense_store_and_among_newborns) {
    ints pool({.name = "ints", .capacity = 100});
    const auto handles = fill(pool, 7, 4);
    EXPECT_EQ(erase_if(pool, odd), 5U);
    for (std::size_t i = 0; i != handles.size(); ++i) {
        EXPECT_EQ(pool.contains(handles[i]), i % 2 == 0) << i;
    }
    EXPECT_EQ(pool.size(), 6U);
    EXPECT_EQ(erase_if(pool, odd), 0U);
    EXPECT_EQ(pool.compact().removed, 5U);
    EXPECT_EQ(erase_if(pool, odd), 0U);
    expect_consistent(pool);
}

TEST(erase_if, of_an_empty_pool_calls_nothing_and_of_all_leaves_none) {
    ints pool({.name = "ints", .capacity = 100});
    int calls = 0;
    const auto all = [&](int&) {
        ++calls;
        return true;
    };
    EXPECT_EQ(erase_if(pool, all), 0U);
    EXPECT_EQ(calls, 0);
    fill(pool, 50, 50);
    EXPECT_EQ(erase_if(pool, all), 100U);
    EXPECT_EQ(calls, 100);
    EXPECT_TRUE(pool.empty());
    EXPECT_EQ(erase_if(pool, all), 0U) << "the dead are not asked about";
    EXPECT_EQ(calls, 100);
    expect_consistent(pool);
}

TEST(erase_if, goes_in_the_order_of_the_dense_store_and_may_change_objects) {
    ints pool({.name = "ints", .capacity = 100});
    fill(pool, 4, 1);
    std::vector<int> seen;
    erase_if(pool, [&](int& object) {
        seen.push_back(object);
        object += 10;
        return false;
    });
    EXPECT_THAT(seen, ElementsAre(0, 1, 2, 3, 4));
    pool.compact();
    EXPECT_THAT(pool.items(), ElementsAre(10, 11, 12, 13, 14));
}

TEST(erase_if, leaves_out_what_was_erased_and_objects_of_reused_slots_are_asked_about_once) {
    ints pool({.name = "ints", .capacity = 100, .reuse_delay = 0});
    const auto handles = fill(pool, 10, 0);
    for (std::size_t i = 0; i != 5; ++i) {
        pool.erase(handles[i]);
    }
    pool.compact();
    fill(pool, 0, 5);
    pool.erase(handles[9]);
    std::map<int*, int> asked;
    EXPECT_EQ(erase_if(pool,
                       [&](int& object) {
                           ++asked[&object];
                           return false;
                       }),
              0U);
    EXPECT_EQ(asked.size(), 9U);
    for (const auto& [object, times] : asked) {
        EXPECT_EQ(times, 1);
        EXPECT_TRUE(pool.contains(pool.handle_of(*object)));
    }
}

TEST(erase_if, passes_on_what_the_predicate_throws_and_has_erased_some) {
    ints pool({.name = "ints", .capacity = 100});
    fill(pool, 6, 0);
    EXPECT_THROW(erase_if(pool,
                          [](int& object) {
                              if (object == 3) {
                                  throw std::runtime_error("thrown by a predicate");
                              }
                              return true;
                          }),
                 std::runtime_error);
    EXPECT_EQ(pool.size(), 3U);
    expect_consistent(pool);
    EXPECT_THROW(fill(pool, 0, 1);
                 erase_if(pool,
                          [](int& object) -> bool {
                              return object == 0 ? throw std::runtime_error("thrown for a newborn") : false;
                          }),
                 std::runtime_error);
}

TEST(erase_if, lets_the_predicate_create_and_erase) {
    ints pool({.name = "ints", .capacity = 1000});
    const auto handles = fill(pool, 10, 10);
    int created = 0;
    const std::size_t erased = erase_if(pool, [&](int& object) {
        if (object >= 0 && object < 10) {
            pool.emplace(-1);
            ++created;
            pool.erase(handles[static_cast<std::size_t>(object)]); // itself
            return true;
        }
        return false;
    });
    EXPECT_EQ(erased, 0U) << "they were erased by another";
    EXPECT_EQ(pool.size(), 20U);
    EXPECT_EQ(created, 10);
    expect_consistent(pool);
}

TEST(erase_if, erases_in_parallel_what_it_erases_in_one_thread) {
    constexpr std::size_t dense = 5000; // several ranges
    constexpr std::size_t newborn = 3000;
    thread_executor threads(3);
    ints pool({.name = "ints", .capacity = dense + newborn});
    const auto handles = fill(pool, dense, newborn);
    std::atomic<std::size_t> asked = 0;
    EXPECT_EQ(erase_if(
                  pool,
                  [&](int& object) {
                      ++asked;
                      return odd(object);
                  },
                  threads),
              (dense + newborn) / 2);
    EXPECT_EQ(asked, dense + newborn);
    for (std::size_t i = 0; i != handles.size(); ++i) {
        ASSERT_EQ(pool.contains(handles[i]), i % 2 == 0);
    }
    EXPECT_EQ(erase_if(pool, std::not_fn(odd), threads), (dense + newborn) / 2);
    EXPECT_TRUE(pool.empty());
    expect_consistent(pool);
}

TEST(erase_if, counts_only_its_own_among_threads_that_erase_and_create) {
    constexpr std::size_t count = 2000;
    pool<counted> pool({.name = "contended", .capacity = 10'000});
    census counts;
    std::vector<handle<counted>> handles;
    for (std::size_t i = 0; i != count; ++i) {
        handles.push_back(pool.emplace(counts, i));
        if (i == count / 2) {
            pool.compact();
        }
    }
    std::atomic<std::size_t> erased = 0;
    in_threads(4, [&](std::size_t thread) {
        if (thread < 2) {
            erased += erase_if(pool, [](counted& object) { return object.value() < count; });
        } else if (thread == 2) {
            erased += pool.erase(handles);
        } else {
            for (std::size_t i = 0; i != count; ++i) {
                pool.emplace(counts, count + i);
            }
        }
    });
    EXPECT_EQ(erased, count);
    EXPECT_EQ(pool.size(), count);
    expect_consistent(pool);
    pool.clear();
    pool.compact();
}

TEST(erase_if, of_a_raw_pool_takes_pointers) {
    raw_pool<> pool({.name = "raw", .capacity = 10}, {.size = sizeof(int), .alignment = alignof(int)});
    const auto add = [&](int value) {
        return pool.emplace([=](void* memory) { ::new (memory) int(value); });
    };
    const auto one = add(1);
    pool.compact();
    const auto two = add(2);
    add(3);
    EXPECT_EQ(erase_if(pool, [](const void* object) { return *static_cast<const int*>(object) == 1; }), 1U);
    EXPECT_FALSE(pool.contains(one));
    EXPECT_EQ(erase_if(pool, [](void* object) { return *static_cast<int*>(object) != 2; }), 1U);
    EXPECT_TRUE(pool.contains(two));
    EXPECT_EQ(pool.size(), 1U);
}

} // namespace
} // namespace handlepool::test

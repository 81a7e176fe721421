// SPDX-License-Identifier: MIT

// What a stable_pool promises beyond a pool. What both promise runs for both in pool_oracle_test and
// pool_throwing_test.

#include <handlepool/detail/memory/virtual_memory.hpp>
#include <handlepool/raw_stable_pool.hpp>
#include <handlepool/stable_pool.hpp>
#include <handlepool/thread_executor.hpp>

#include <gtest/gtest.h>
#include <support/steps/tiny_policy.hpp>
#include <tests/support/consistency.hpp>
#include <tests/support/hostile_types.hpp>
#include <tests/support/random.hpp>
#include <tests/support/tabulate.hpp>
#include <tests/support/threads.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

using numbers = stable_pool<std::uint64_t>;

/// Knows where it is.
struct pinned {
    explicit pinned(std::uint64_t number) : value(number) {}
    pinned(const pinned&) = delete;
    pinned& operator=(const pinned&) = delete;
    ~pinned() { EXPECT_EQ(self, this); }

    const pinned* self = this;
    std::uint64_t value;
};

/// Its move constructor may throw.
struct throwing_move {
    throwing_move() = default;
    throwing_move(throwing_move&&) { throw std::logic_error("moved"); }
};
static_assert(!std::is_nothrow_move_constructible_v<throwing_move>);

template <class Pool>
concept takes_objects =
    requires(Pool pool, typename Pool::value_type object) { pool.insert(std::move(object)); };
template <class Pool>
concept has_positions = requires(Pool pool) { pool.items(); } || requires(Pool pool) { pool.handle_at(0); };

static_assert(takes_objects<numbers> && takes_objects<pool<int>> && !takes_objects<stable_pool<pinned>>);
template <class Pool>
concept has_mutable_items = requires(Pool pool) { pool.mutable_items(); };
static_assert(has_positions<pool<int>> && !has_positions<numbers>);
static_assert(has_positions<raw_pool<>> && !has_positions<raw_stable_pool<>>);
static_assert(has_mutable_items<raw_pool<>> && !has_mutable_items<raw_stable_pool<>> &&
              !has_mutable_items<numbers>);

template <class Pool>
std::vector<std::uint64_t> values(const Pool& pool) {
    return {pool.begin(), pool.end()};
}

template <class Pool>
std::vector<typename Pool::handle_type> emplace_sequence(Pool& pool, std::uint64_t first,
                                                         std::uint64_t last) {
    std::vector<typename Pool::handle_type> handles;
    for (std::uint64_t value = first; value != last; ++value) {
        handles.push_back(pool.emplace(value));
    }
    return handles;
}

TEST(stable_pool_test, addresses_hold_for_life_whatever_goes_and_comes) {
    stable_pool<pinned> pool({.name = "pinned", .capacity = 2000, .reuse_delay = 0});
    std::map<handle<pinned>, const pinned*> alive;
    random_source random(1);
    for (std::uint64_t frame = 0; frame != 60; ++frame) {
        for (std::uint64_t i = random.below(400); i != 0 && alive.size() < 1500; --i) {
            const auto made = pool.emplace(i);
            EXPECT_TRUE(alive.emplace(made, pool.find(made)).second);
        }
        for (auto each = alive.begin(); each != alive.end();) {
            if (random.one_in(6)) {
                EXPECT_TRUE(pool.erase(each->first));
                each = alive.erase(each);
            } else {
                ++each;
            }
        }
        expect_consistent(pool);
        for (const auto& [handle, address] : alive) {
            ASSERT_EQ(pool.find(handle), address);
            ASSERT_EQ(pool.handle_of(*address), handle);
        }
    }
}

TEST(stable_pool_test, objects_need_not_be_movable) {
    stable_pool<throwing_move> pool({.name = "throwing move", .capacity = 200});
    std::vector<handle<throwing_move>> handles;
    pool.emplace_n(200, std::back_inserter(handles));
    pool.compact();
    for (std::size_t i = 0; i < handles.size(); i += 2) {
        pool.erase(handles[i]);
    }
    pool.compact();
    pool.shrink_to_fit();
    EXPECT_EQ(pool.size(), 100U);
}

TEST(stable_pool_test, iteration_skips_holes_and_what_is_not_promoted) {
    numbers pool({.name = "numbers", .capacity = 1000});
    EXPECT_EQ(pool.begin(), pool.end());
    const auto handles = emplace_sequence(pool, 0, 300);
    EXPECT_EQ(pool.begin(), pool.end()) << "newborns come with the next compaction";
    pool.compact();
    EXPECT_EQ(values(pool).size(), 300U);
    // The whole second group, and the ends of others.
    std::vector<std::uint64_t> left;
    for (std::uint64_t i = 0; i != 300; ++i) {
        if ((i >= 64 && i < 128) || i == 0 || i == 63 || i == 191 || i == 299) {
            pool.erase(handles[i]);
        } else {
            left.push_back(i);
        }
    }
    EXPECT_EQ(values(pool).size(), 300U) << "removals, too";
    pool.compact();
    EXPECT_EQ(values(pool), left);
    pool.clear();
    pool.compact();
    EXPECT_EQ(pool.begin(), pool.end());
}

TEST(stable_pool_test, iteration_ends_where_it_would_have_while_others_create) {
    numbers pool({.name = "numbers", .capacity = 10'000});
    emplace_sequence(pool, 0, 100);
    pool.compact();
    std::size_t visited = 0;
    for (auto each = pool.begin(); each != pool.end(); ++each) {
        pool.emplace(1U); // puts new groups into service
        ++visited;
    }
    EXPECT_EQ(visited, 100U);
}

TEST(stable_pool_test, new_objects_fill_the_holes_from_the_front) {
    numbers pool({.name = "numbers", .capacity = 10'000, .reuse_delay = 0});
    const auto handles = emplace_sequence(pool, 0, 6400);
    const std::uint64_t* const first = pool.find(handles[0]);
    pool.compact();
    random_source random(3);
    std::set<std::ptrdiff_t> holes;
    for (std::size_t i = 0; i != handles.size(); ++i) {
        if (random.one_in(8)) {
            holes.insert(pool.find(handles[i]) - first);
            pool.erase(handles[i]);
        }
    }
    pool.compact();
    // What the shard's last group has left comes first, then the holes in ascending order.
    for (const auto handle : emplace_sequence(pool, 0, holes.size() - 64)) {
        const std::ptrdiff_t place = pool.find(handle) - first;
        if (place < 6400) {
            EXPECT_EQ(place, *holes.begin());
            holes.erase(holes.begin());
        }
    }
    EXPECT_LE(holes.size(), 128U);
}

TEST(stable_pool_test, stays_as_dense_as_it_was_full) {
    numbers pool({.name = "numbers", .capacity = 5000, .reuse_delay = 0});
    auto handles = emplace_sequence(pool, 0, 4000);
    pool.compact();
    const std::uint64_t* const first = pool.find(handles[0]);
    random_source random(4);
    for (int frame = 0; frame != 200; ++frame) {
        for (int i = 0; i != 300; ++i) {
            const std::size_t victim = random.below(handles.size());
            EXPECT_TRUE(pool.erase(handles[victim]));
            handles[victim] = pool.emplace(1U);
        }
        pool.compact();
    }
    const auto last = *std::max_element(handles.begin(), handles.end(), [&](auto left, auto right) {
        return pool.find(left) < pool.find(right);
    });
    EXPECT_LT(pool.find(last) - first, 4000 + 2 * 300 + 3 * 64);
}

TEST(stable_pool_test, memory_comes_back_from_the_end) {
    struct large {
        std::array<std::uint64_t, 32> words{};
    };
    const std::size_t page = detail::virtual_memory::page_size();
    stable_pool<large> pool({.name = "large", .capacity = 100'000, .reuse_delay = 0});
    std::vector<handle<large>> handles;
    pool.emplace_n(50'000, std::back_inserter(handles));
    pool.compact();
    EXPECT_GE(pool.stats().bytes_resident_in_objects, 50'000 * sizeof(large));
    for (std::size_t i = 1000; i != handles.size(); ++i) {
        pool.erase(handles[i]);
    }
    pool.compact();
    pool.shrink_to_fit();
    EXPECT_LE(pool.stats().bytes_resident_in_objects, 1000 * sizeof(large) + page);
    for (std::size_t i = 0; i != 1000; ++i) {
        ASSERT_NE(pool.find(handles[i]), nullptr);
        EXPECT_EQ(pool.find(handles[i])->words[31], 0U);
    }
    pool.emplace_n(40'000, std::back_inserter(handles));
    expect_consistent(pool);
    EXPECT_EQ(pool.size(), 41'000U);
    pool.shrink_to_fit();
    expect_consistent(pool);
}

TEST(stable_pool_test, shrinking_takes_nothing_from_threads_that_create) {
    numbers pool({.name = "numbers", .capacity = 20'000, .reuse_delay = 0});
    std::atomic<bool> stop{false};
    in_threads(3, [&](std::size_t thread) {
        if (thread == 0) {
            for (int round = 0; round != 200; ++round) {
                pool.compact();
                pool.shrink_to_fit();
            }
            stop = true;
        } else {
            std::vector<handle<std::uint64_t>> mine;
            while (!stop) {
                for (std::uint64_t i = 0; i != 500; ++i) {
                    if (const auto made = pool.try_emplace(i)) {
                        mine.push_back(made);
                    }
                }
                for (std::size_t i = 0; i != mine.size(); ++i) {
                    const auto guard = pool.access();
                    const auto* const found = pool.find(mine[i]);
                    ASSERT_NE(found, nullptr);
                }
                for (const auto each : mine) {
                    ASSERT_TRUE(pool.erase(each));
                }
                mine.clear();
            }
        }
    });
    expect_consistent(pool);
    EXPECT_EQ(pool.size(), 0U);
}

TEST(stable_pool_test, takes_what_the_pool_promises_to_take) {
    for (const std::size_t capacity : {1U, 2U, 63U, 64U, 65U, 1000U}) {
        stable_pool<std::uint64_t, with_policy<support::tiny_policy<1>>> pool(
            {.name = "full", .capacity = capacity, .reuse_delay = 0, .max_threads = 8});
        for (int round = 0; round != 20; ++round) {
            const auto handles = emplace_sequence(pool, 0, capacity);
            // In another order each time, so that groups are left with few holes.
            for (std::size_t i = 0; i != capacity; ++i) {
                EXPECT_TRUE(pool.erase(handles[(i * 7 + static_cast<std::size_t>(round)) % capacity]) ||
                            capacity % 7 == 0);
            }
            pool.clear();
            pool.compact();
            EXPECT_EQ(pool.size(), 0U);
        }
    }
}

TEST(stable_pool_test, full_again_after_every_second_object_went) {
    numbers pool({.name = "numbers", .capacity = 6400, .reuse_delay = 0, .max_threads = 8});
    auto handles = emplace_sequence(pool, 0, 6400);
    for (int round = 0; round != 10; ++round) {
        for (std::size_t i = static_cast<std::size_t>(round) % 2; i < handles.size(); i += 2) {
            EXPECT_TRUE(pool.erase(handles[i]));
        }
        pool.compact();
        for (std::size_t i = static_cast<std::size_t>(round) % 2; i < handles.size(); i += 2) {
            handles[i] = pool.emplace(i);
        }
        expect_consistent(pool);
    }
    EXPECT_EQ(pool.size(), 6400U);
}

TEST(stable_pool_test, for_each_visits_the_same_objects_in_any_number_of_threads) {
    numbers pool({.name = "numbers", .capacity = 20'000});
    const auto handles = emplace_sequence(pool, 0, 20'000);
    for (std::size_t i = 0; i < handles.size(); i += 3) {
        pool.erase(handles[i]);
    }
    pool.compact();
    std::uint64_t sum = 0;
    std::size_t count = 0;
    pool.for_each([&](std::uint64_t value) {
        sum += value;
        ++count;
    });
    EXPECT_EQ(count, pool.size());
    std::atomic<std::uint64_t> parallel_sum{0};
    thread_executor threads(3);
    pool.for_each([&](std::uint64_t& value) noexcept { parallel_sum += value++; }, threads);
    EXPECT_EQ(parallel_sum, sum);
    EXPECT_THROW(pool.for_each([](std::uint64_t) { throw std::runtime_error("enough"); }),
                 std::runtime_error);
}

TEST(stable_pool_test, a_sweep_finds_the_dead_that_left_no_record_promoted_or_not) {
    census people;
    stable_pool<counted, with_policy<support::tiny_policy<2>>> pool(
        {.name = "swept", .capacity = 500, .reuse_delay = 0, .removal_queue_size = 1});
    for (int round = 0; round != 10; ++round) {
        auto handles = tabulate(std::uint64_t{200}, [&](std::uint64_t i) { return pool.emplace(people, i); });
        pool.compact();
        for (std::uint64_t i = 0; i != 200; ++i) {
            handles.push_back(pool.emplace(people, i));
        }
        for (const auto each : handles) {
            EXPECT_TRUE(pool.erase(each));
        }
        EXPECT_GT(pool.compact().swept, 0U);
        expect_consistent(pool);
        EXPECT_EQ(people.alive(), 0);
    }
}

TEST(stable_pool_test, hooks_guards_and_reports_are_those_of_a_pool) {
    std::vector<std::uint64_t> gone;
    stable_pool<pinned> pool({.name = "pins", .capacity = 10, .remember_frames = true});
    pool.on_destroy([&](handle<pinned>, pinned& object) { gone.push_back(object.value); }).release();
    const auto first = pool.emplace(1U);
    const auto second = pool.emplace(2U);
    pool.compact();
    pool.compact();
    EXPECT_EQ(pool.describe(first), "pins #" + std::to_string(first.index()) + " generation " +
                                        std::to_string(first.generation()) + ": alive, created 2 frames ago");
    {
        const auto object = pool.pin(second);
        EXPECT_EQ(object->value, 2U);
        EXPECT_FALSE(pool.try_compact());
    }
    EXPECT_EQ(pool.oldest(1).front(), first);
    pool.erase(second);
    EXPECT_EQ(pool.try_compact()->removed, 1U);
    EXPECT_EQ(gone, std::vector<std::uint64_t>{2});
    EXPECT_EQ(pool.stats().dense, 1U);
    pool.reset();
    EXPECT_EQ(gone, (std::vector<std::uint64_t>{2, 1}));
    EXPECT_EQ(pool.begin(), pool.end());
    pool.emplace(3U);
    expect_consistent(pool);
}

TEST(stable_pool_test, threads_use_objects_that_they_know_to_be_alive_during_compactions) {
    stable_pool<pinned> pool({.name = "pinned", .capacity = 20'000, .reuse_delay = 0});
    const auto use = [&](std::size_t thread) {
        random_source random(thread);
        std::vector<std::pair<handle<pinned>, pinned*>> mine;
        for (std::uint64_t i = 0; i != 20'000; ++i) {
            if (mine.size() < 500 || random.one_in(2)) {
                if (const auto made = pool.try_emplace(i)) {
                    // No compaction moves it, and nobody else erases it.
                    mine.emplace_back(made, pool.find(made));
                }
            }
            const std::size_t one = random.below(mine.size());
            ASSERT_EQ(mine[one].second->self, mine[one].second);
            mine[one].second->value = i;
            if (mine.size() > 1000) {
                ASSERT_TRUE(pool.erase(mine[one].first));
                mine[one] = mine.back();
                mine.pop_back();
            }
        }
    };
    in_threads(2, use, [&] { pool.compact(); });
    expect_consistent(pool);
}

TEST(stable_pool_test, of_a_type_that_is_known_at_run_time_only) {
    raw_stable_pool<> pool({.name = "raw", .capacity = 300}, raw_type{.size = 24, .alignment = 8});
    std::map<raw_stable_pool<>::handle_type, void*> alive;
    for (std::uint64_t i = 0; i != 300; ++i) {
        const auto made = pool.emplace([i](void* memory) { *static_cast<std::uint64_t*>(memory) = i; });
        alive.emplace(made, pool.find(made));
    }
    pool.compact();
    for (auto each = alive.begin(); each != alive.end();) {
        if (*static_cast<std::uint64_t*>(each->second) % 3 == 0) {
            EXPECT_TRUE(pool.erase(each->first));
            each = alive.erase(each);
        } else {
            ++each;
        }
    }
    pool.compact();
    std::size_t visited = 0;
    pool.for_each([&](void* object) {
        EXPECT_EQ(alive.at(pool.handle_of(object)), object);
        ++visited;
    });
    EXPECT_EQ(visited, 200U);
    pool.shrink_to_fit();
    for (const auto& [handle, address] : alive) {
        EXPECT_EQ(pool.find(handle), address);
    }
}

} // namespace
} // namespace handlepool::test

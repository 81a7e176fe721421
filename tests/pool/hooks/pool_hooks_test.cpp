// SPDX-License-Identifier: MIT

// Hooks that are called before objects end.

#include <handlepool/policy.hpp>
#include <handlepool/pool.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tests/support/hostile_types.hpp>
#include <tests/support/tabulate.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <ranges>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using ints = pool<int>;
using ids = std::vector<handle<int>>;

/// A pool whose hook notes what it sees.
struct watched {
    explicit watched(pool_options options = {.name = "watched", .capacity = 100}) : pool(options) {
        pool.on_destroy([this](handle<int> handle, int& object) { seen.emplace_back(handle, object); })
            .release();
    }

    std::vector<std::pair<handle<int>, int>> seen; // outlives the pool, whose end calls the hook
    ints pool;
};

TEST(destroy_hook, is_called_once_for_each_erased_object) {
    watched at;
    const auto old = at.pool.emplace(1);
    at.pool.compact();
    const auto newborn = at.pool.emplace(2);
    at.pool.emplace(3);
    EXPECT_TRUE(at.pool.erase(newborn));
    EXPECT_FALSE(at.pool.erase(newborn));
    EXPECT_THAT(at.seen, IsEmpty()) << "erase itself calls nothing";
    at.pool.compact();
    EXPECT_THAT(at.seen, ElementsAre(std::pair(newborn, 2)));
    at.pool.erase(old);
    at.pool.compact();
    at.pool.compact();
    EXPECT_THAT(at.seen, ElementsAre(std::pair(newborn, 2), std::pair(old, 1)));
}

// std::function could hold neither.
TEST(destroy_hook, may_be_movable_only_and_return_something_that_must_not_be_ignored) {
    struct counting_hook {
        [[nodiscard]] int operator()(ints::handle_type, int& object) & {
            *sum += object;
            return 0;
        }
        std::unique_ptr<int> owned;
        int* sum = nullptr;
    };
    ints pool({.name = "ints", .capacity = 10});
    int sum = 0;
    pool.on_destroy(counting_hook{.owned = std::make_unique<int>(1), .sum = &sum}).release();
    pool.erase(pool.emplace(7));
    pool.compact();
    EXPECT_EQ(sum, 7);
}

TEST(destroy_hook, sees_the_object_whole_and_its_handle_stale) {
    census counts;
    int calls = 0;
    pool<counted> pool({.name = "counted", .capacity = 10});
    const scoped_hook hook = pool.on_destroy([&](handle<counted> handle, counted& object) {
        ++calls;
        EXPECT_EQ(object.value(), 7U);
        EXPECT_EQ(counts.alive(), 1) << "its destructor comes later";
        EXPECT_TRUE(handle);
        EXPECT_FALSE(pool.contains(handle));
        EXPECT_EQ(pool.find(handle), nullptr);
        EXPECT_FALSE(pool.erase(handle));
    });
    pool.erase(pool.emplace(counts, 7U));
    pool.compact();
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(counts.alive(), 0);
}

/// An executor that runs each range in another thread, the last range first.
struct elsewhere_and_backwards {
    template <class Body>
    void for_ranges(std::size_t count, std::size_t grain, Body&& body) {
        for (std::size_t last = count; last != 0;) {
            const std::size_t first = last - std::min(grain, last);
            std::jthread([&] { body(first, last); }).join();
            last = first;
        }
    }
};

TEST(destroy_hook, is_called_by_the_compacting_thread_in_the_order_of_the_erases_whatever_the_executor) {
    constexpr int count = 2000; // more than one range
    std::vector<int> seen;
    int in_others = 0;
    const auto self = std::this_thread::get_id();
    ints pool({.name = "ints", .capacity = count});
    const scoped_hook hook = pool.on_destroy([&](handle<int>, int& object) {
        seen.push_back(object);
        in_others += std::this_thread::get_id() == self ? 0 : 1;
    });
    const auto handles = tabulate(count, [&](int i) { return pool.emplace(i); });
    pool.compact();
    pool.erase(handles | std::views::reverse);
    pool.compact(elsewhere_and_backwards());
    EXPECT_EQ(in_others, 0);
    ASSERT_EQ(seen.size(), static_cast<std::size_t>(count));
    EXPECT_TRUE(std::ranges::is_sorted(seen, std::greater()));
}

TEST(destroy_hook, is_called_for_what_a_sweep_finds) {
    watched at({.name = "swept", .capacity = 10, .removal_queue_size = 1});
    ids handles;
    at.pool.emplace_n(3, std::back_inserter(handles), 7);
    at.pool.compact();
    at.pool.erase(at.pool.emplace(8));
    at.pool.erase(handles);
    EXPECT_EQ(at.pool.compact().swept, 3U);
    EXPECT_THAT(at.seen, testing::UnorderedElementsAre(testing::Pair(testing::_, 8), std::pair(handles[0], 7),
                                                       std::pair(handles[1], 7), std::pair(handles[2], 7)));
}

TEST(destroy_hook, is_called_on_reset) {
    watched at;
    const auto one = at.pool.emplace(1);
    at.pool.compact();
    const auto two = at.pool.emplace(2);
    at.pool.reset();
    EXPECT_THAT(at.seen, testing::UnorderedElementsAre(std::pair(one, 1), std::pair(two, 2)));
    at.pool.erase(at.pool.emplace(3));
    at.pool.compact();
    EXPECT_EQ(at.seen.size(), 3U) << "it stays";
}

TEST(destroy_hook, is_called_at_the_pools_end) {
    std::vector<int> seen;
    {
        ints pool({.name = "ints", .capacity = 10});
        pool.on_destroy([&](handle<int>, int& object) { seen.push_back(object); }).release();
        pool.emplace(1);
        pool.compact();
        pool.emplace(2);
        pool.erase(pool.emplace(3));
    }
    EXPECT_THAT(seen, testing::UnorderedElementsAre(1, 2, 3));
}

TEST(destroy_hook, is_not_called_when_a_construction_fails_or_a_newborn_moves) {
    census counts;
    int calls = 0;
    pool<throwing> pool({.name = "throwing", .capacity = 10});
    pool.on_destroy([&](handle<throwing>, throwing&) { ++calls; }).release();
    fuse second(1);
    pool.emplace(std::ref(second), std::ref(counts));
    EXPECT_THROW(pool.emplace(std::ref(second), std::ref(counts)), construction_failure);
    pool.compact();
    EXPECT_EQ(calls, 0);
}

TEST(destroy_hook, may_create_and_erase_in_its_pool) {
    int calls = 0;
    handle<int> next;
    ints pool({.name = "ints", .capacity = 10});
    const auto other = pool.emplace(100);
    const scoped_hook hook = pool.on_destroy([&](handle<int>, int& object) {
        if (object == 100) {
            return; // the pool's end
        }
        ++calls;
        EXPECT_EQ(pool.at(other), 100);
        if (object < 3) {
            next = pool.emplace(object + 1);
            if (object != 0) {
                EXPECT_TRUE(pool.erase(next));
            }
        }
    });
    pool.erase(pool.emplace(0));
    pool.compact();
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(pool.at(next), 1);
    EXPECT_EQ(pool.size(), 2U);
    pool.erase(next);
    pool.compact(); // 1 makes 2 and erases it, whose end makes 3 ...
    EXPECT_EQ(calls, 2);
    pool.compact();
    EXPECT_EQ(calls, 3);
    pool.compact();
    EXPECT_EQ(calls, 4);
    EXPECT_TRUE(pool.idle());
    EXPECT_EQ(pool.size(), 1U);
}

TEST(destroy_hook, several_are_called_in_the_order_in_which_they_were_added) {
    std::vector<std::string> calls;
    ints pool({.name = "ints", .capacity = 10});
    std::vector<scoped_hook> hooks;
    for (const char* const name : {"first", "second", "third"}) {
        hooks.push_back(pool.on_destroy([&, name](handle<int>, int& object) {
            calls.push_back(name + std::to_string(object));
            object += 10; // the next one sees it
        }));
    }
    pool.erase(pool.emplace(1));
    pool.erase(pool.emplace(2));
    pool.compact();
    EXPECT_THAT(calls, ElementsAre("first1", "second11", "third21", "first2", "second12", "third22"));
}

TEST(destroy_hook, late_ones_are_called_after_early_ones) {
    std::string calls;
    ints pool({.name = "ints", .capacity = 10});
    std::vector<scoped_hook> hooks;
    const auto add = [&](char name, hook_order order) {
        hooks.push_back(pool.on_destroy([&, name](handle<int>, int&) { calls.push_back(name); }, order));
    };
    add('x', hook_order::late);
    add('a', hook_order::early);
    add('y', hook_order::late);
    add('b', hook_order::early);
    pool.erase(pool.emplace(1));
    pool.erase(pool.emplace(2));
    pool.compact();
    EXPECT_EQ(calls, "abxyabxy");
    hooks[1].disconnect();
    hooks[2].disconnect();
    pool.erase(pool.emplace(3));
    pool.compact();
    add('c', hook_order::early);
    add('z', hook_order::late);
    pool.erase(pool.emplace(4));
    pool.compact();
    EXPECT_EQ(calls, "abxyabxybxbcxz");
}

/// One that prepares for what it will see.
struct prepared_hook {
    void announce(handle<int> handle) const noexcept { announced->push_back(handle); }
    void operator()(handle<int> handle, int&) const {
        ended->push_back(handle);
        if (ended->size() == ended_at_most) {
            own->disconnect();
        }
    }

    ids* announced;
    ids* ended;
    scoped_hook* own;
    std::size_t ended_at_most;
};

TEST(destroy_hook, may_be_told_some_time_before) {
    for (const std::size_t most : {10U, 1000U}) {
        ints pool({.name = "ints", .capacity = 1000});
        ids announced;
        ids ended;
        scoped_hook own;
        own = pool.on_destroy(prepared_hook{&announced, &ended, &own, most});
        const auto all = tabulate(100, [&](int i) { return pool.emplace(i); });
        for (const handle<int> each : all) {
            pool.erase(each);
        }
        pool.compact();
        EXPECT_EQ(ended.size(), std::min(most, all.size()));
        EXPECT_GT(announced.size(), ended.size() / 2);
        EXPECT_LE(announced.size(), ended.size() + default_policy::removal_chunk)
            << "not after it was disconnected";
        EXPECT_TRUE(std::ranges::includes(all, announced)) << "in their order";
    }
}

TEST(destroy_hook, sees_only_what_ends_after_it_was_added) {
    watched at;
    int late_calls = 0;
    at.pool.erase(at.pool.emplace(1));
    at.pool.compact();
    at.pool.erase(at.pool.emplace(2)); // its end is still to come
    at.pool.on_destroy([&](handle<int>, int&) { ++late_calls; }).release();
    at.pool.compact();
    EXPECT_EQ(late_calls, 1);
    EXPECT_EQ(at.seen.size(), 2U);
}

TEST(destroy_hook, can_not_be_added_while_a_compaction_runs_or_by_the_holder_of_a_guard) {
    int calls = 0;
    ints pool({.name = "ints", .capacity = 10});
    const auto nothing = [](handle<int>, int&) {};
    const scoped_hook hook = pool.on_destroy([&](handle<int>, int&) {
        EXPECT_THROW(pool.on_destroy(nothing).release(), compaction_conflict);
        ++calls;
    });
    pool.erase(pool.emplace(1));
    pool.compact();
    EXPECT_EQ(calls, 1);
    const auto guard = pool.access();
    EXPECT_THROW(pool.on_destroy(nothing).release(), compaction_conflict);
}

} // namespace
} // namespace handlepool::test

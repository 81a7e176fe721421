// SPDX-License-Identifier: MIT

// Hooks that are called for the objects that compactions take in, and the connections of hooks.

#include <handlepool/pool.hpp>
#include <handlepool/raw_pool.hpp>
#include <handlepool/scoped_hook.hpp>
#include <handlepool/thread_executor.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tests/support/consistency.hpp>
#include <tests/support/tabulate.hpp>
#include <tests/support/threads.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

using ints = pool<int>;

TEST(birth_hook, is_called_once_for_each_object_that_a_compaction_takes_in) {
    ints pool({.name = "ints", .capacity = 10});
    std::vector<std::pair<handle<int>, int>> seen;
    const auto before = pool.emplace(1);
    pool.on_birth([&](handle<int> handle, int& object) { seen.emplace_back(handle, object); }).release();
    EXPECT_THAT(seen, IsEmpty());
    const auto after = pool.emplace(2);
    pool.compact();
    EXPECT_THAT(seen, ElementsAre(Pair(before, 1), Pair(after, 2)));
    pool.compact();
    EXPECT_EQ(seen.size(), 2U);
    pool.erase(before); // the other one moves
    pool.compact();
    EXPECT_EQ(seen.size(), 2U) << "a move is no birth";
}

TEST(birth_hook, does_not_see_what_is_in_the_dense_store_when_it_is_added) {
    ints pool({.name = "ints", .capacity = 10});
    pool.emplace(1);
    pool.compact();
    int calls = 0;
    pool.on_birth([&](handle<int>, int&) { ++calls; }).release();
    pool.compact();
    EXPECT_EQ(calls, 0);
}

TEST(birth_hook, sees_objects_where_they_stay_and_the_whole_dense_store) {
    ints pool({.name = "ints", .capacity = 100});
    const auto old = tabulate(20, [&](int) { return pool.emplace(-1); });
    pool.compact();
    std::vector<std::pair<handle<int>, int*>> seen;
    const scoped_hook hook = pool.on_birth([&](handle<int> handle, int& object) {
        seen.emplace_back(handle, &object);
        EXPECT_TRUE(pool.contains(handle));
        EXPECT_EQ(pool.find(handle), &object);
        EXPECT_EQ(pool.handle_of(object), handle);
        EXPECT_EQ(pool.items().size(), 3U);
        EXPECT_EQ(pool.at(old[0]), -1) << "others can be looked up";
    });
    // More holes than newborns, and some behind what will be the last object: newborns move twice.
    for (std::size_t i = 1; i != old.size(); ++i) {
        pool.erase(old[old.size() - i]);
    }
    pool.emplace(1);
    pool.emplace(2);
    pool.compact();
    ASSERT_EQ(seen.size(), 2U);
    for (const auto& [handle, object] : seen) {
        EXPECT_EQ(pool.find(handle), object) << "it stays for the frame";
    }
    expect_consistent(pool);
}

TEST(birth_hook, does_not_see_what_is_erased_before) {
    std::vector<std::string> calls;
    ints pool({.name = "ints", .capacity = 10});
    handle<int> third;
    const scoped_hook hook = pool.on_birth([&](handle<int>, int& object) {
        calls.push_back("birth " + std::to_string(object));
        if (object == 2) {
            EXPECT_TRUE(pool.erase(third));
        }
    });
    pool.on_destroy([&](handle<int>, int& object) { calls.push_back("end " + std::to_string(object)); })
        .release();
    pool.erase(pool.emplace(1));
    pool.emplace(2);
    third = pool.emplace(3);
    pool.compact();
    EXPECT_THAT(calls, ElementsAre("end 1", "birth 2"));
    pool.compact();
    EXPECT_THAT(calls, ElementsAre("end 1", "birth 2", "end 3"));
}

TEST(birth_hook, may_create_which_is_reported_by_the_next_compaction) {
    ints pool({.name = "ints", .capacity = 10});
    std::vector<int> seen;
    const scoped_hook hook = pool.on_birth([&](handle<int>, int& object) {
        seen.push_back(object);
        if (object < 3) {
            pool.emplace(object + 1);
        }
    });
    pool.emplace(1);
    pool.compact();
    EXPECT_THAT(seen, ElementsAre(1));
    pool.compact();
    EXPECT_THAT(seen, ElementsAre(1, 2));
    pool.compact();
    pool.compact();
    EXPECT_THAT(seen, ElementsAre(1, 2, 3));
    EXPECT_TRUE(pool.idle());
}

TEST(birth_hook, is_called_by_the_compacting_thread_in_the_order_of_birth_whatever_the_executor) {
    constexpr int count = 5000; // several ranges
    thread_executor threads(3);
    ints pool({.name = "ints", .capacity = count + 1});
    std::vector<int> seen;
    const scoped_hook hook = pool.on_birth([&, self = std::this_thread::get_id()](handle<int>, int& object) {
        EXPECT_EQ(std::this_thread::get_id(), self);
        seen.push_back(object);
    });
    for (int i = 0; i != count; ++i) {
        pool.emplace(i);
    }
    pool.compact(threads);
    ASSERT_EQ(seen.size(), static_cast<std::size_t>(count));
    EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
    pool.shrink_to_fit();
    pool.emplace(count - 1);
    pool.compact(threads);
    EXPECT_EQ(seen.size(), static_cast<std::size_t>(count) + 1);
}

TEST(birth_hook, is_kept_by_reset) {
    ints pool({.name = "ints", .capacity = 10});
    int calls = 0;
    pool.on_birth([&](handle<int>, int&) { ++calls; }).release();
    pool.emplace(1);
    pool.reset();
    EXPECT_EQ(calls, 0) << "it was never taken in";
    pool.emplace(2);
    pool.compact();
    EXPECT_EQ(calls, 1);
}

TEST(birth_hook, of_a_raw_pool_gets_a_pointer) {
    raw_pool<> pool({.name = "raw", .capacity = 10}, {.size = sizeof(int), .alignment = alignof(int)});
    std::vector<int> seen;
    auto connection = pool.on_birth([&](handle<void> handle, void* object) {
        EXPECT_EQ(pool.find(handle), object);
        seen.push_back(*static_cast<int*>(object));
    });
    pool.emplace([](void* memory) { ::new (memory) int(7); });
    pool.compact();
    connection.disconnect();
    pool.emplace();
    pool.compact();
    EXPECT_THAT(seen, ElementsAre(7));
}

TEST(birth_hook, can_not_be_added_while_a_compaction_runs_or_by_the_holder_of_a_guard) {
    ints pool({.name = "ints", .capacity = 10});
    int calls = 0;
    const auto nothing = [](handle<int>, int&) {};
    const scoped_hook hook = pool.on_birth([&](handle<int>, int&) {
        EXPECT_THROW(pool.on_birth(nothing).release(), compaction_conflict);
        ++calls;
    });
    pool.emplace(1);
    pool.compact();
    EXPECT_EQ(calls, 1);
    const auto guard = pool.access();
    EXPECT_THROW(pool.on_birth(nothing).release(), compaction_conflict);
}

static_assert(!std::is_copy_constructible_v<scoped_hook> &&
              std::is_nothrow_move_constructible_v<scoped_hook> &&
              std::is_nothrow_move_assignable_v<scoped_hook>);
static_assert(sizeof(scoped_hook) == sizeof(void*));

/// A pool with a hook of each kind that counts its calls, and owns something.
struct connected_pool {
    connected_pool() {
        births = pool.on_birth([this, held = owned](handle<int>, int&) { ++born; });
        ends = pool.on_destroy([this, held = owned](handle<int>, int&) { ++ended; });
    }
    void live_and_die() {
        const auto one = pool.emplace(1);
        pool.compact();
        pool.erase(one);
        pool.compact();
    }

    int born = 0;
    int ended = 0;
    std::shared_ptr<int> owned = std::make_shared<int>();
    ints pool{{.name = "connected", .capacity = 10}};
    scoped_hook births;
    scoped_hook ends;
};

TEST(scoped_hook, takes_its_hook_off) {
    connected_pool at;
    EXPECT_TRUE(at.births.connected());
    at.live_and_die();
    EXPECT_EQ(at.born, 1);
    EXPECT_EQ(at.ended, 1);
    at.births.disconnect();
    EXPECT_FALSE(at.births.connected());
    EXPECT_TRUE(at.ends.connected());
    EXPECT_EQ(at.owned.use_count(), 3);
    at.live_and_die();
    EXPECT_EQ(at.born, 1);
    EXPECT_EQ(at.ended, 2);
    EXPECT_EQ(at.owned.use_count(), 2) << "a compaction has destroyed it";
    at.ends.disconnect();
    at.ends.disconnect();
    at.live_and_die();
    EXPECT_EQ(at.ended, 2);
    EXPECT_EQ(at.owned.use_count(), 1);
}

TEST(scoped_hook, leaves_its_hook_on_when_it_was_released) {
    connected_pool at;
    at.births.release();
    EXPECT_FALSE(at.births.connected());
    {
        scoped_hook gone = std::move(at.ends);
        gone.release();
        gone.release(); // nothing
    }
    EXPECT_FALSE(at.ends.connected());
    at.births.disconnect(); // of nothing
    at.ends.disconnect();
    at.live_and_die();
    EXPECT_EQ(at.born, 1);
    EXPECT_EQ(at.ended, 1);
}

TEST(scoped_hook, may_outlive_its_pool) {
    scoped_hook births;
    scoped_hook ends;
    std::weak_ptr<int> owned;
    {
        connected_pool at;
        owned = at.owned;
        births = std::move(at.births);
        ends = std::move(at.ends);
        EXPECT_TRUE(births.connected());
    }
    EXPECT_TRUE(owned.expired());
    EXPECT_FALSE(births.connected());
    EXPECT_FALSE(ends.connected());
    births.disconnect();
}

TEST(scoped_hook, may_end_in_one_thread_while_its_pool_ends_in_another) {
    for (int round = 0; round != 200; ++round) {
        std::optional<ints> pool(std::in_place, pool_options{.name = "ints", .capacity = 10});
        scoped_hook connection = pool->on_birth([](handle<int>, int&) {});
        in_threads(2, [&](std::size_t thread) {
            if (thread == 0) {
                pool.reset();
            } else {
                connection.disconnect();
                connection = scoped_hook();
            }
        });
    }
}

TEST(scoped_hook, can_be_used_by_the_hook_itself_and_by_another) {
    ints pool({.name = "ints", .capacity = 10});
    std::vector<std::string> calls;
    scoped_hook first;
    scoped_hook second;
    first = pool.on_destroy([&](handle<int>, int&) {
        calls.emplace_back("first");
        first.disconnect();
        second.disconnect();
    });
    second = pool.on_destroy([&](handle<int>, int&) { calls.emplace_back("second"); });
    pool.on_destroy([&](handle<int>, int&) { calls.emplace_back("third"); }).release();
    pool.erase(pool.emplace(1));
    pool.erase(pool.emplace(2));
    pool.compact();
    EXPECT_THAT(calls, ElementsAre("first", "third", "third"));
}

TEST(scoped_hook, lets_the_hooks_own_end_use_the_pool) {
    ints pool({.name = "ints", .capacity = 10});
    const auto creator = std::shared_ptr<int>(new int, [&](const int* held) {
        delete held;
        pool.emplace(7);
    });
    auto connection = pool.on_destroy([held = creator](handle<int>, int&) {});
    auto last = std::move(const_cast<std::shared_ptr<int>&>(creator));
    last.reset();
    connection.disconnect();
    pool.compact();
    EXPECT_EQ(pool.size(), 1U);
    expect_consistent(pool);
}

TEST(scoped_hook, takes_its_hook_off_when_it_ends_or_is_replaced) {
    connected_pool at;
    {
        scoped_hook births = std::move(at.births);
        scoped_hook ends = std::move(at.ends);
        EXPECT_TRUE(births.connected());
        at.live_and_die();
        births = std::move(ends); // ends the hook for births
        at.live_and_die();
        EXPECT_EQ(at.born, 1);
        EXPECT_EQ(at.ended, 2);
    }
    at.live_and_die();
    EXPECT_EQ(at.ended, 2);
    EXPECT_EQ(at.owned.use_count(), 1);
}

TEST(scoped_hook, is_moved_to_itself_and_nothing_changes) {
    connected_pool at;
    scoped_hook& same = at.births;
    at.births = std::move(same);
    EXPECT_TRUE(at.births.connected());
    at.live_and_die();
    EXPECT_EQ(at.born, 1);
}

TEST(scoped_hook, takes_its_hook_off_when_nobody_keeps_it) {
    ints pool({.name = "ints", .capacity = 10});
    int calls = 0;
    static_cast<void>(pool.on_birth([&](handle<int>, int&) { ++calls; }));
    static_cast<void>(pool.on_destroy([&](handle<int>, int&) { ++calls; }));
    pool.emplace(1);
    pool.compact();
    pool.clear();
    pool.compact();
    EXPECT_EQ(calls, 0);
}

// A thread disconnects, and makes sure by a guard that the hook isn't running: then it may destroy what the
// hook uses.
TEST(scoped_hook, with_a_guard_ends_the_use_of_what_the_hook_refers_to) {
    constexpr int rounds = 50;
    for (int round = 0; round != rounds; ++round) {
        ints pool({.name = "ints", .capacity = 100});
        auto counter = std::make_unique<int>(0);
        auto connection = pool.on_birth([used = counter.get()](handle<int>, int&) { ++*used; });
        std::atomic<bool> done = false;
        in_threads(2, [&](std::size_t thread) {
            if (thread == 0) {
                while (!done) {
                    pool.erase(pool.emplace(1));
                    pool.emplace(1);
                    pool.compact();
                    pool.clear();
                }
            } else {
                connection.disconnect();
                {
                    const auto guard = pool.access();
                }
                *counter = -1; // as ThreadSanitizer sees, nobody else does
                counter.reset();
                done = true;
            }
        });
    }
}

} // namespace
} // namespace handlepool::test

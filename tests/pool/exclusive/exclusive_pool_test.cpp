// SPDX-License-Identifier: MIT

// What a view for one thread promises beyond a pool, and when there is none.

#include <handlepool/columns.hpp>
#include <handlepool/error.hpp>
#include <handlepool/exclusive_pool.hpp>
#include <handlepool/raw_pool.hpp>
#include <handlepool/raw_stable_pool.hpp>
#include <handlepool/recycling_pool.hpp>
#include <handlepool/scoped_hook.hpp>
#include <handlepool/sort.hpp>
#include <handlepool/stable_pool.hpp>
#include <handlepool/thread_executor.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tests/support/consistency.hpp>
#include <tests/support/hostile_types.hpp>
#include <tests/support/message_of.hpp>
#include <tests/support/threads.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

using names = pool<std::string>;

std::vector<std::string> names_in(const exclusive_pool<std::string>& view) {
    return {view.begin(), view.end()};
}

TEST(exclusive_pool, begins_with_a_compacted_pool) {
    names pool({.name = "pool", .capacity = 100});
    const auto a = pool.emplace("a");
    pool.compact();
    const auto b = pool.emplace("b");
    pool.erase(a);
    const auto alone = pool.exclusive_access();
    EXPECT_THAT(names_in(alone), ElementsAre("b"));
    EXPECT_EQ(alone.at(b), "b");
    EXPECT_FALSE(alone.contains(a));
}

TEST(exclusive_pool, has_what_was_created_at_once_and_not_what_was_erased) {
    names pool({.name = "pool", .capacity = 100});
    auto alone = pool.exclusive_access();
    const auto a = alone.emplace("a");
    const auto b = alone.emplace("b");
    const auto c = alone.emplace("c");
    EXPECT_THAT(names_in(alone), ElementsAre("a", "b", "c"));
    EXPECT_EQ(alone.handle_at(1), b);
    EXPECT_EQ(alone.handle_of(alone.items()[2]), c);
    EXPECT_TRUE(alone.erase(a));
    EXPECT_THAT(names_in(alone), ElementsAre("c", "b"));
    EXPECT_EQ(alone.handle_at(0), c);
    EXPECT_FALSE(alone.erase(a));
    EXPECT_EQ(alone.find(a), nullptr);
    EXPECT_EQ(alone.size(), 2U);
    EXPECT_EQ(message_of<stale_handle>([&] { static_cast<void>(alone.at(a)); }),
              message_of<stale_handle>([&] { static_cast<void>(pool.at(a)); }));
}

TEST(exclusive_pool, leaves_to_the_pool_what_the_pool_would_have) {
    names pool({.name = "pool", .capacity = 100});
    std::vector<names::handle_type> made;
    {
        auto alone = pool.exclusive_access();
        alone.emplace_n(60, std::back_inserter(made), "many");
        for (std::size_t i = 0; i != 30; ++i) {
            EXPECT_TRUE(alone.erase(made[2 * i]));
        }
    }
    EXPECT_EQ(pool.size(), 30U);
    EXPECT_TRUE(pool.idle());
    for (std::size_t i = 0; i != 60; ++i) {
        EXPECT_EQ(pool.contains(made[i]), i % 2 == 1);
    }
    pool.emplace("one more");
    expect_consistent(pool);
    EXPECT_EQ(pool.size(), 31U);
}

TEST(exclusive_pool, destroys_an_erased_object_at_once) {
    census counts;
    pool<counted> dense({.name = "dense", .capacity = 100});
    stable_pool<counted> stable({.name = "stable", .capacity = 100});
    const auto try_in = [&](auto& pool) {
        auto alone = pool.exclusive_access();
        const auto one = alone.emplace(counts, 1U);
        alone.emplace(counts, 2U);
        EXPECT_EQ(counts.alive(), 2);
        alone.erase(one);
        EXPECT_EQ(counts.alive(), 1);
        alone.clear();
        EXPECT_EQ(counts.alive(), 0);
        EXPECT_TRUE(alone.empty());
    };
    try_in(dense);
    try_in(stable);
}

TEST(exclusive_pool, delivers_an_extracted_object_at_once) {
    names pool({.name = "pool", .capacity = 100});
    auto alone = pool.exclusive_access();
    const auto a = alone.emplace("a");
    alone.emplace("b");
    std::string taken;
    EXPECT_TRUE(alone.extract(a, [&](std::string&& name) { taken = std::move(name); }));
    EXPECT_EQ(taken, "a");
    EXPECT_THAT(names_in(alone), ElementsAre("b"));
    EXPECT_FALSE(alone.extract(a, [](std::string&&) { FAIL() << "the handle is stale"; }));

    EXPECT_EQ(alone.drain([&](auto, std::string&& name) { taken = std::move(name); }), 1U);
    EXPECT_EQ(taken, "b");
    EXPECT_TRUE(alone.empty());
}

TEST(exclusive_pool, has_room_for_its_capacity_again_and_again) {
    const auto try_in = [](auto&& pool) {
        auto alone = pool.exclusive_access();
        std::vector<handle<std::string>> made;
        for (int round = 0; round != 5; ++round) {
            while (const auto one = alone.try_emplace("x")) {
                made.push_back(one);
            }
            EXPECT_EQ(made.size(), 100U);
            EXPECT_EQ(message_of<pool_exhausted>([&] { alone.emplace("y"); }),
                      "pool 'pool' is exhausted: its capacity is 100 objects (places of erased objects come "
                      "back with "
                      "the next compaction)");
            EXPECT_FALSE(alone.try_emplace_n(1, std::back_inserter(made), "y"));
            EXPECT_FALSE(alone.try_reserve_handle());
            // Each way to create has the room that an erase has made just before.
            EXPECT_TRUE(alone.erase(std::exchange(made.back(), {})));
            made.back() = alone.emplace_with([](auto) { return std::string("with"); });
            EXPECT_TRUE(alone.erase(std::exchange(made.back(), {})));
            made.back() = alone.reserve_handle();
            alone.fulfill(made.back(), "reserved");
            EXPECT_TRUE(alone.erase(std::exchange(made.back(), {})));
            made.pop_back();
            alone.emplace_n(1, std::back_inserter(made), "bulk");
            EXPECT_EQ(alone.size(), 100U);
            EXPECT_EQ(alone.erase(made), 100U);
            made.clear();
        }
    };
    try_in(names({.name = "pool", .capacity = 100}));
    try_in(stable_pool<std::string>({.name = "pool", .capacity = 100}));
    try_in(recycling_pool<std::string>({.name = "pool", .capacity = 100}));
}

TEST(exclusive_pool, loses_nothing_where_a_constructor_throws) {
    const auto try_in = [](auto&& pool) {
        census counts;
        {
            auto alone = pool.exclusive_access();
            for (int i = 0; i != 300; ++i) {
                fuse blown(0);
                EXPECT_THROW(alone.emplace(blown, counts), construction_failure);
                fuse later(i % 20);
                std::vector<handle<throwing>> made;
                const auto make = [&](std::size_t) { return throwing(later, counts); };
                EXPECT_THROW(alone.emplace_n(30, std::back_inserter(made), make), construction_failure);
                EXPECT_TRUE(made.empty());
                EXPECT_EQ(counts.alive(), 0);
                EXPECT_EQ(alone.begin(), alone.end());
            }
            fuse never(1'000'000);
            std::vector<handle<throwing>> made;
            for (int i = 0; i != 100; ++i) {
                made.push_back(alone.emplace(never, counts));
            }
            EXPECT_EQ(counts.alive(), 100);
            EXPECT_EQ(alone.erase(made), 100U);
        }
        expect_consistent(pool);
    };
    try_in(pool<throwing>({.name = "dense", .capacity = 100}));
    try_in(stable_pool<throwing>({.name = "stable", .capacity = 100}));
}

TEST(exclusive_pool, keeps_the_order_where_the_pool_does) {
    names pool({.name = "pool", .capacity = 100, .keep_order = true});
    auto alone = pool.exclusive_access();
    const auto a = alone.emplace("a");
    alone.emplace("b");
    const auto c = alone.emplace("c");
    alone.emplace("d");
    alone.erase(a);
    alone.erase(c);
    alone.emplace("e");
    EXPECT_THAT(names_in(alone), ElementsAre("b", "d", "e"));
    EXPECT_EQ(alone.size(), 3U);

    // Erased objects that still wait for that are no reason to refuse others.
    for (int round = 0; round != 3; ++round) {
        std::vector<names::handle_type> made(alone.handles().begin(), alone.handles().end());
        alone.erase(made);
        made.clear();
        for (int i = 0; i != 100; ++i) {
            made.push_back(alone.emplace("x"));
        }
        alone.erase(made);
        made.clear();
        alone.emplace_n(100, std::back_inserter(made), "y");
        alone.erase(made);
        for (int i = 0; i != 100; ++i) {
            alone.emplace_with([](auto) { return std::string("z"); });
        }
        EXPECT_EQ(alone.size(), 100U);
    }
}

TEST(exclusive_pool, tells_of_births_at_once_where_the_pool_keeps_order) {
    names pool({.name = "pool", .capacity = 100, .keep_order = true});
    std::vector<std::string> born;
    auto alone = pool.exclusive_access();
    const auto a = alone.emplace("a");
    alone.emplace("b");
    const scoped_hook hook = alone.on_birth([&](names::handle_type, const std::string& one) {
        born.push_back(one);
        if (one == "parent") {
            alone.emplace("child");
        }
    });
    const auto told = [&born] { return std::exchange(born, {}); };
    alone.erase(a);
    alone.emplace("c");
    EXPECT_THAT(told(), ElementsAre("c"));
    alone.emplace_with([](auto) { return std::string("d"); });
    EXPECT_THAT(told(), ElementsAre("d"));
    alone.fulfill(alone.reserve_handle(), "e");
    EXPECT_THAT(told(), ElementsAre("e"));
    std::vector<names::handle_type> made;
    alone.emplace_n(2, std::back_inserter(made), "f");
    EXPECT_THAT(told(), ElementsAre("f", "f"));
    alone.emplace("parent");
    EXPECT_THAT(told(), ElementsAre("parent", "child"));
    EXPECT_THAT(names_in(alone), ElementsAre("b", "c", "d", "e", "f", "f", "parent", "child"));

    // Also of those that come in an order.
    sort(alone, [](const std::string& one, const std::string& other) { return one < other; });
    alone.emplace("g");
    EXPECT_THAT(told(), ElementsAre("g"));
}

TEST(exclusive_pool, has_no_positions_of_erased_objects_where_the_pool_keeps_order) {
    names pool({.name = "pool", .capacity = 100, .keep_order = true});
    auto alone = pool.exclusive_access();
    const auto a = alone.emplace("a");
    const auto b = alone.emplace("b");
    const auto c = alone.emplace("c");
    alone.erase(a);
    EXPECT_EQ(alone.handle_at(0), b);
    alone.erase(b);
    EXPECT_EQ(alone.handle_at(0), c);
    alone.erase(c);
    EXPECT_THROW(static_cast<void>(alone.handle_at(0)), std::out_of_range);
}

TEST(exclusive_pool, is_sorted_like_the_pool) {
    names pool({.name = "pool", .capacity = 100});
    auto alone = pool.exclusive_access();
    const auto c = alone.emplace("c");
    alone.emplace("a");
    alone.emplace("b");
    sort(alone, [](const std::string& one, const std::string& other) { return one < other; });
    EXPECT_THAT(names_in(alone), ElementsAre("a", "b", "c"));
    EXPECT_EQ(alone.at(c), "c");
    EXPECT_TRUE(alone.erase(alone.handle_at(0)));
    EXPECT_THAT(names_in(alone), ElementsAre("c", "b"));
}

TEST(exclusive_pool, leaves_no_order_that_was_begun_when_all_objects_have_gone) {
    pool<int> pool({.name = "pool", .capacity = 1000});
    for (int i = 0; i != 100; ++i) {
        pool.emplace(100 - i);
    }
    pool.compact();
    const std::size_t without_order = pool.stats().bytes_reserved;
    EXPECT_FALSE(sort_some(pool, std::less<>(), 10).in_order);
    EXPECT_GT(pool.stats().bytes_reserved, without_order);
    pool.exclusive_access().clear();
    EXPECT_EQ(pool.stats().bytes_reserved, without_order);
}

// What comes into an order that was begun is compared in pool_sort_parts_test.
TEST(exclusive_pool, goes_on_with_a_sort_that_was_begun) {
    pool<int> pool({.name = "pool", .capacity = 1000});
    std::vector<handle<int>> made;
    for (int i = 0; i != 100; ++i) {
        made.push_back(pool.emplace(0));
    }
    pool.compact();
    sort_some(pool, [](int, int) { return false; }, 2);
    {
        auto alone = pool.exclusive_access();
        for (int i = 0; i != 50; ++i) {
            EXPECT_TRUE(alone.erase(made[static_cast<std::size_t>(i)]));
            alone.emplace(1);
        }
    }
    while (!sort_some(pool, [](int one, int other) { return one < other; }, 10).in_order) {
    }
    const auto items = pool.items();
    EXPECT_TRUE(std::is_sorted(items.begin(), items.end()));
}

template <class Pool>
void expect_hooks_at_once() {
    Pool pool({.name = "pool", .capacity = 100, .remember_frames = true});
    std::vector<std::string> seen;
    const scoped_hook births =
        pool.on_birth([&](auto, const std::string& object) { seen.push_back("+" + object); });
    const scoped_hook ends = pool.on_destroy([&](auto handle, const std::string& object) {
        EXPECT_FALSE(pool.contains(handle));
        seen.push_back("-" + object);
    });
    const auto a = pool.emplace("a");
    auto alone = pool.exclusive_access();
    EXPECT_THAT(seen, ElementsAre("+a"));
    const auto b = alone.emplace("b");
    EXPECT_THAT(seen, ElementsAre("+a", "+b"));
    std::vector<typename Pool::handle_type> more;
    alone.emplace_n(2, std::back_inserter(more), "c");
    EXPECT_THAT(seen, ElementsAre("+a", "+b", "+c", "+c"));
    EXPECT_TRUE(alone.erase(a));
    EXPECT_FALSE(alone.erase(a));
    EXPECT_THAT(seen, ElementsAre("+a", "+b", "+c", "+c", "-a"));
    EXPECT_EQ(alone.size(), 3U);
    alone.erase(b);
    const auto d = alone.emplace("d");
    seen.clear();
    alone.clear();
    EXPECT_THAT(seen, UnorderedElementsAre("-c", "-c", "-d"));
    EXPECT_FALSE(alone.contains(d));
    EXPECT_TRUE(alone.empty());
    const pool_stats stats = alone.stats();
    EXPECT_EQ(stats.created, 5U);
    EXPECT_EQ(stats.destroyed, 5U);

    seen.clear();
    alone.fulfill(alone.reserve_handle(), "e");
    EXPECT_TRUE(alone.try_fulfill(alone.reserve_handle(), "f"));
    alone.emplace_with([](auto) { return std::string("g"); });
    EXPECT_TRUE(alone.try_emplace_with([](auto) { return std::string("h"); }));
    EXPECT_THAT(seen, ElementsAre("+e", "+f", "+g", "+h"));
}
TEST(exclusive_pool, calls_hooks_at_once) {
    expect_hooks_at_once<pool<std::string>>();
    expect_hooks_at_once<stable_pool<std::string>>();
}

TEST(exclusive_pool, remembers_the_frame_in_which_an_object_came_and_went) {
    names pool({.name = "pool", .capacity = 100, .remember_frames = true});
    for (int frame = 0; frame != 5; ++frame) {
        pool.emplace("other");
        pool.compact();
    }
    names::handle_type made;
    names::handle_type erased;
    {
        auto alone = pool.exclusive_access();
        made = alone.emplace("made");
        erased = alone.emplace("erased");
        for (int i = 0; i != 50; ++i) { // steps are no frames
            alone.erase(alone.emplace("passing"));
        }
        alone.erase(erased);
    }
    for (int frame = 0; frame != 3; ++frame) {
        pool.emplace("other");
        pool.compact();
    }
    const std::string generation =
        std::to_string(made.generation()); // not 1 where a pool of another test had the pool id
    EXPECT_EQ(pool.describe(made), "pool #5 generation " + generation + ": alive, created 3 frames ago");
    EXPECT_EQ(pool.describe(erased), "pool #6 generation " + generation + ": erased 3 frames ago");
}

TEST(exclusive_pool, tells_hooks_the_handle_without_user_bits) {
    pool<std::string, with_layout<handle_layout<24, 20, 10, 10>>> pool({.name = "pool", .capacity = 10});
    std::vector<std::uint64_t> told;
    const scoped_hook ends =
        pool.on_destroy([&](auto handle, const std::string&) { told.push_back(handle.value()); });
    auto alone = pool.exclusive_access();
    const auto made = alone.emplace("made");
    EXPECT_TRUE(alone.erase(made.with_user(77)));
    EXPECT_THAT(told, ElementsAre(made.value()));
}

TEST(exclusive_pool, takes_in_what_a_hook_does_also_of_objects_without_destructors) {
    pool<int> pool({.name = "pool", .capacity = 100});
    auto alone = pool.exclusive_access();
    const auto a = alone.emplace(1);
    const auto b = alone.emplace(2);
    const scoped_hook hook = alone.on_destroy([&](auto handle, int&) {
        if (handle == a) {
            alone.erase(b);
            alone.emplace(3);
        }
    });
    alone.erase(a);
    EXPECT_TRUE(alone.idle());
    EXPECT_EQ(alone.stats().newborn, 0U);
    EXPECT_THAT(alone.items(), ElementsAre(3));
}

TEST(exclusive_pool, makes_no_objects_in_any_pool) {
    pool<int> pool({.name = "pool", .capacity = 2});
    auto alone = pool.exclusive_access();
    std::vector<handle<int>> none;
    EXPECT_TRUE(alone.try_emplace_n(0, std::back_inserter(none), 1));
    while (alone.try_emplace(1)) {
    }
    EXPECT_TRUE(alone.try_emplace_n(0, std::back_inserter(none), 1));
    EXPECT_TRUE(none.empty());
}

TEST(exclusive_pool, leaves_holes_that_the_pool_may_fill) {
    stable_pool<int> pool({.name = "pool", .capacity = 1000});
    std::vector<handle<int>> made;
    {
        auto alone = pool.exclusive_access();
        while (const auto one = alone.try_emplace(1)) {
            made.push_back(one);
        }
        for (const handle<int> each : made) {
            alone.erase(each);
        }
    }
    std::size_t again = 0;
    while (pool.try_emplace(2)) {
        ++again;
    }
    EXPECT_EQ(again, made.size());
}

TEST(exclusive_pool, of_rows_and_of_types_known_at_run_time) {
    pool<columns<int, std::string>> rows({.name = "rows", .capacity = 100});
    {
        auto alone = rows.exclusive_access();
        const auto one = alone.emplace(1, std::string("one"));
        const auto two = alone.emplace(2, std::string("two"));
        EXPECT_TRUE(alone.erase(one));
        EXPECT_THAT(alone.items<int>(), ElementsAre(2));
        EXPECT_EQ(alone.find(two)->get<std::string>(), "two");
        int sum = 0;
        alone.for_each<const int>([&](int each) { sum += each; });
        EXPECT_EQ(sum, 2);
    }
    const raw_type bytes{.size = 4, .alignment = 4};
    raw_pool<> dense({.name = "raw", .capacity = 100}, bytes);
    raw_stable_pool<> stable({.name = "raw stable", .capacity = 100}, bytes);
    const auto try_in = [](auto& pool) {
        auto alone = pool.exclusive_access();
        const auto one = alone.emplace([](void* memory) { *static_cast<int*>(memory) = 1; });
        const auto two = alone.emplace([](void* memory) { *static_cast<int*>(memory) = 2; });
        EXPECT_TRUE(alone.erase(one));
        EXPECT_EQ(*static_cast<int*>(alone.find(two)), 2);
        std::size_t count = 0;
        alone.for_each([&](void*) { ++count; });
        EXPECT_EQ(count, 1U);
    };
    try_in(dense);
    try_in(stable);
}

TEST(exclusive_pool, keeps_what_a_recycling_pool_keeps) {
    recycling_pool<std::vector<int>> pool({.name = "pool", .capacity = 100});
    auto alone = pool.exclusive_access();
    const auto one = alone.emplace(std::vector<int>(1000));
    const int* const memory = alone.at(one).data();
    alone.erase(one);
    bool found = false;
    for (int i = 0; i != 64 && !found; ++i) {
        const auto& next = alone.at(alone.emplace());
        EXPECT_TRUE(next.empty());
        found = next.capacity() >= 1000 && next.data() == memory;
    }
    // Its place belongs to the group that is being filled, and comes back with the next one.
    alone.clear();
    for (int i = 0; i != 100 && !found; ++i) {
        const auto& next = alone.at(alone.emplace());
        found = next.capacity() >= 1000 && next.data() == memory;
    }
    EXPECT_TRUE(found);
}

// Its compactions and loops are those of the pool, which an executor's threads may use meanwhile.
TEST(exclusive_pool, lends_the_pool_to_an_executor) {
    thread_executor executor(2);
    const auto try_in = [&](auto&& pool) {
        census counts;
        {
            auto alone = pool.exclusive_access();
            std::vector<typename std::remove_cvref_t<decltype(pool)>::handle_type> made;
            for (std::uint64_t i = 0; i != 5000; ++i) {
                made.push_back(alone.emplace(counts, i));
            }
            EXPECT_EQ(erase_if(
                          alone,
                          [&](const counted& each) {
                              return each.value() % 2 == 0 && alone.contains(made[each.value()]) &&
                                     pool.contains(made[each.value()]);
                          },
                          executor),
                      2500U);
            EXPECT_EQ(erase_if(
                          alone,
                          [&](const counted& each) {
                              if (each.value() % 4 == 1) {
                                  alone.erase(made[each.value() + 2]);
                              }
                              return false;
                          },
                          executor),
                      0U);
            EXPECT_EQ(alone.size(), 1250U);
            EXPECT_EQ(counts.alive(), 1250);
            EXPECT_EQ(alone.compact(executor).removed, 0U);
            alone.emplace(counts, 0U);
            EXPECT_EQ(alone.size(), 1251U);
        }
        expect_consistent(pool);
        pool.clear();
        pool.compact();
    };
    try_in(pool<counted>({.name = "dense", .capacity = 5000}));
    try_in(stable_pool<counted>({.name = "stable", .capacity = 5000}));
}

// ---- When there is none

TEST(exclusive_pool, is_refused_beside_another_a_guard_and_a_compaction) {
    names pool({.name = "pool", .capacity = 100});
    {
        const auto alone = pool.exclusive_access();
        EXPECT_EQ(
            message_of<compaction_conflict>([&] { static_cast<void>(pool.exclusive_access()); }),
            "handlepool: pool 'pool': exclusive access was asked for while a thread has exclusive access");
        EXPECT_FALSE(pool.try_exclusive_access());
        EXPECT_EQ(message_of<compaction_conflict>([&] { pool.compact(); }),
                  "handlepool: pool 'pool': compaction was asked for while a thread has exclusive access");
        EXPECT_FALSE(pool.try_compact());
        EXPECT_FALSE(pool.try_access());
        EXPECT_EQ(
            message_of<compaction_conflict>([&] { static_cast<void>(pool.access()); }),
            "handlepool: pool 'pool': an access guard was asked for in a thread that has exclusive access");
    }
    {
        const auto guard = pool.access();
        EXPECT_EQ(
            message_of<compaction_conflict>([&] { static_cast<void>(pool.exclusive_access()); }),
            "handlepool: pool 'pool': exclusive access was asked for by a thread that has made an access "
            "guard or spawners, which still live");
        EXPECT_FALSE(pool.try_exclusive_access());
    }
    EXPECT_TRUE(pool.try_exclusive_access());
    std::string in_hook;
    const scoped_hook hook = pool.on_destroy([&](auto, std::string&) {
        EXPECT_FALSE(pool.try_exclusive_access());
        in_hook = message_of<compaction_conflict>([&] { static_cast<void>(pool.exclusive_access()); });
    });
    pool.erase(pool.emplace("x"));
    pool.compact();
    EXPECT_EQ(in_hook,
              "handlepool: pool 'pool': exclusive access was asked for while a compaction is running");
}

// The thread that has the last index is refused, like everywhere.
TEST(exclusive_pool, is_refused_to_a_thread_that_the_pool_has_no_room_for) {
    names pool({.name = "pool", .capacity = 100, .max_threads = 1});
    std::size_t refused = 0;
    const auto ask = [&] {
        if (message_of<too_many_threads>([&] { pool.access().reset(); }).empty()) {
            EXPECT_TRUE(pool.try_exclusive_access());
        } else {
            EXPECT_FALSE(pool.try_exclusive_access());
            EXPECT_EQ(message_of<too_many_threads>([&] { static_cast<void>(pool.exclusive_access()); }),
                      message_of<too_many_threads>([&] { pool.access().reset(); }));
            ++refused;
        }
    };
    ask();
    std::thread(ask).join();
    EXPECT_GE(refused, 1U); // two threads, of which each has an index of its own
    EXPECT_TRUE(pool.idle());
}

TEST(exclusive_pool, waits_for_guards_and_guards_for_it) {
    names pool({.name = "pool", .capacity = 100});
    std::atomic<bool> guarded{false};
    std::atomic<bool> guard_ended{false};
    std::atomic<bool> view_begun{false};
    std::atomic<bool> refused{false};
    std::atomic<bool> view_ended{false};
    std::thread other([&] {
        {
            const auto guard = pool.access();
            guarded = true;
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
            guard_ended = true;
        }
        while (!view_begun) {
            std::this_thread::yield();
        }
        EXPECT_FALSE(pool.try_access());
        refused = true;
        const auto guard = pool.access();
        EXPECT_TRUE(view_ended);
    });
    while (!guarded) {
        std::this_thread::yield();
    }
    {
        auto alone = pool.exclusive_access();
        EXPECT_TRUE(guard_ended);
        alone.emplace("a");
        view_begun = true;
        while (!refused) {
            std::this_thread::yield();
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        view_ended = true;
    }
    other.join();
}

// ---- The types

template <class Pool>
concept guarded = requires(Pool& pool, typename Pool::handle_type of) {
    pool.access();
    pool.try_access();
    pool.pin(of);
    pool.try_pin(of);
};
template <class Pool>
concept exclusive_again = requires(Pool& pool) { pool.exclusive_access(); };

static_assert(guarded<names> && exclusive_again<names>);
static_assert(!guarded<exclusive_pool<std::string>> && !exclusive_again<exclusive_pool<std::string>>);
static_assert(!std::is_copy_constructible_v<exclusive_pool<std::string>> &&
              !std::is_move_constructible_v<exclusive_pool<std::string>>);
static_assert(!std::is_constructible_v<exclusive_pool<std::string>, const pool_options&>);
static_assert(std::is_same_v<exclusive_pool<std::string>::handle_type, names::handle_type>);

/// What a program writes for pools.
template <class T, class Traits>
std::size_t erase_short(pool<T, Traits>& of, std::size_t length) {
    return erase_if(of, [length](const T& each) { return each.size() < length; });
}

TEST(exclusive_pool, is_taken_by_functions_for_pools) {
    names pool({.name = "pool", .capacity = 100});
    pool.emplace("a");
    EXPECT_EQ(erase_short(pool, 2), 1U);
    auto alone = pool.exclusive_access();
    alone.emplace("b");
    alone.emplace("long");
    EXPECT_EQ(erase_short(alone, 2), 1U);
    EXPECT_THAT(names_in(alone), ElementsAre("long"));
}

} // namespace
} // namespace handlepool::test

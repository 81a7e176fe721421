// SPDX-License-Identifier: MIT

// drain: all living objects are moved out.

#include <handlepool/pool.hpp>
#include <handlepool/raw_pool.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <support/steps/step_atomics.hpp>
#include <support/steps/tiny_policy.hpp>
#include <tests/support/consistency.hpp>
#include <tests/support/hostile_types.hpp>
#include <tests/support/threads.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <iterator>
#include <new>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

using testing::ElementsAre;
using testing::Pair;

TEST(drain, moves_all_living_objects_out_with_their_handles) {
    pool<std::string> pool({.name = "strings", .capacity = 10});
    const auto first = pool.emplace("first");
    const auto erased = pool.emplace("erased");
    const auto second = pool.emplace("second");
    pool.compact();
    pool.erase(erased);
    const auto newborn = pool.emplace("newborn");
    pool.erase(pool.emplace("short-lived"));
    std::vector<std::pair<handle<std::string>, std::string>> drained;
    EXPECT_EQ(pool.drain([&](handle<std::string> handle, std::string&& object) {
        EXPECT_FALSE(pool.contains(handle));
        drained.emplace_back(handle, std::move(object));
    }),
              3U);
    EXPECT_THAT(drained, ElementsAre(Pair(first, "first"), Pair(second, "second"), Pair(newborn, "newborn")));
    EXPECT_TRUE(pool.empty());
    EXPECT_TRUE(pool.items().empty());
    EXPECT_TRUE(pool.idle());
    EXPECT_FALSE(pool.contains(first));
    const auto next = pool.emplace("next");
    EXPECT_EQ(pool.at(next), "next");
    expect_consistent(pool);
}

TEST(drain, of_an_empty_pool_calls_nothing) {
    pool<int> pool({.name = "ints", .capacity = 10});
    int calls = 0;
    const auto sink = [&](handle<int>, int&&) { ++calls; };
    EXPECT_EQ(pool.drain(sink), 0U);
    pool.erase(pool.emplace(1));
    EXPECT_EQ(pool.drain(sink), 0U);
    EXPECT_EQ(calls, 0);
    EXPECT_TRUE(pool.idle());
}

TEST(drain, destroys_each_object_once_after_its_hooks) {
    census counts;
    std::vector<std::string> calls;
    pool<counted> pool({.name = "counted", .capacity = 10});
    const scoped_hook hook = pool.on_destroy(
        [&](handle<counted>, counted& object) { calls.push_back("hook " + std::to_string(object.value())); });
    pool.emplace(counts, 1U);
    pool.compact();
    pool.emplace(counts, 2U);
    std::vector<counted> drained;
    drained.reserve(2);
    pool.drain([&](handle<counted>, counted&& object) {
        calls.push_back("sink " + std::to_string(object.value()));
        drained.push_back(std::move(object));
    });
    EXPECT_THAT(calls, ElementsAre("hook 1", "sink 1", "hook 2", "sink 2"));
    EXPECT_EQ(counts.alive(), 2);
}

TEST(drain, delivers_extractions_of_before_to_their_own_sinks) {
    pool<int> pool({.name = "ints", .capacity = 10});
    int taken = 0;
    int drained = 0;
    pool.extract(pool.emplace(1), [&](int&& object) { taken += object; });
    pool.emplace(2);
    EXPECT_EQ(pool.drain([&](handle<int>, int&& object) { drained += object; }), 1U);
    EXPECT_EQ(taken, 1);
    EXPECT_EQ(drained, 2);
}

TEST(drain, leaves_what_its_sink_creates) {
    pool<int> pool({.name = "ints", .capacity = 100});
    std::vector<handle<int>> created;
    for (int i = 0; i != 20; ++i) {
        pool.emplace(i);
        if (i == 10) {
            pool.compact();
        }
    }
    EXPECT_EQ(pool.drain([&](handle<int>, int&& object) { created.push_back(pool.emplace(100 + object)); }),
              20U);
    EXPECT_EQ(pool.size(), 20U);
    for (std::size_t i = 0; i != created.size(); ++i) {
        EXPECT_EQ(pool.at(created[i]), 100 + static_cast<int>(i));
    }
    expect_consistent(pool);
}

TEST(drain, is_refused_while_a_compaction_runs_or_a_guard_is_held) {
    pool<int> pool({.name = "ints", .capacity = 10});
    int conflicts = 0;
    const auto sink = [](handle<int>, int&&) {};
    const auto hook = pool.on_destroy([&](handle<int>, int&) {
        try {
            pool.drain(sink);
        } catch (const compaction_conflict&) {
            ++conflicts;
        }
    });
    pool.emplace(1);
    {
        const auto guard = pool.access();
        EXPECT_THROW(pool.drain(sink), compaction_conflict);
    }
    EXPECT_EQ(pool.size(), 1U);
    EXPECT_EQ(pool.drain(sink), 1U);
    EXPECT_EQ(conflicts, 1);
}

TEST(drain, takes_each_object_that_no_other_thread_erases) {
    constexpr std::size_t count = 3000;
    census counts;
    pool<counted> pool({.name = "contended", .capacity = 10'000, .removal_queue_size = 16});
    std::vector<handle<counted>> handles;
    for (std::size_t i = 0; i != count; ++i) {
        handles.push_back(pool.emplace(counts, i));
        if (i == count / 2) {
            pool.compact();
        }
    }
    std::atomic<std::size_t> ended = 0;
    std::atomic<std::size_t> created = 0;
    in_threads(3, [&](std::size_t thread) {
        if (thread == 0) {
            ended +=
                pool.drain([&](handle<counted>, counted&& object) { EXPECT_LT(object.value(), 2 * count); });
        } else if (thread == 1) {
            ended += pool.erase(handles);
        } else {
            for (std::size_t i = 0; i != count / 4; ++i) {
                pool.emplace(counts, count + i);
                ++created;
            }
        }
    });
    EXPECT_EQ(pool.size(), count + created - ended);
    expect_consistent(pool);
    ended += pool.drain([](handle<counted>, counted&&) {});
    EXPECT_EQ(ended, count + created);
    EXPECT_EQ(counts.alive(), 0);
    expect_consistent(pool);
}

TEST(drain, takes_all_that_were_alive_whatever_others_create_meanwhile) {
    constexpr std::size_t count = 50'000;
    for (int round = 0; round != 4; ++round) {
        pool<int> pool({.name = "contended", .capacity = 2 * count, .reuse_delay = 0});
        std::vector<handle<int>> low;
        pool.emplace_n(5'000, std::back_inserter(low), 0);
        std::vector<handle<int>> handles;
        pool.emplace_n(count, std::back_inserter(handles), 1);
        pool.compact();
        pool.erase(low);
        pool.compact();
        // The other thread creates objects in the first slots, this one has newborns in the last ones.
        std::atomic<bool> ready = false;
        std::atomic<bool> drains = false;
        std::jthread other([&] {
            pool.emplace(2);
            ready = true;
            while (!drains) {
            }
            for (int i = 0; i != 4'000; ++i) {
                pool.emplace(3);
            }
        });
        while (!ready) {
        }
        pool.emplace_n(6'000, std::back_inserter(handles), 4);
        drains = true;
        pool.drain([](handle<int>, int&&) {});
        EXPECT_EQ(std::ranges::count_if(handles, [&](auto each) { return pool.contains(each); }), 0);
    }
}

TEST(drain, and_clear_end_objects_also_while_others_revoke_their_handles) {
    for (int round = 0; round != 50; ++round) {
        pool<int> pool({.name = "contended", .capacity = 1'000});
        std::vector<handle<int>> handles;
        pool.emplace_n(200, std::back_inserter(handles), 1);
        std::atomic<bool> ready = false;
        std::jthread other([&] {
            for (bool any = true; any;) {
                any = false;
                for (handle<int>& each : handles) {
                    if (const handle<int> revoked = pool.revoke(each)) {
                        each = revoked;
                        any = true;
                    }
                }
                ready = true;
            }
        });
        while (!ready) {
        }
        if (round % 2 == 0) {
            pool.clear();
        } else {
            pool.drain([](handle<int>, int&&) {});
        }
        EXPECT_EQ(pool.size(), 0U);
    }
}

TEST(drain, and_clear_end_an_object_whose_handle_is_revoked_at_any_step_of_theirs) {
    using pool_type = pool<int, with_policy<support::tiny_policy<2, support::step_policy>>>;
    for (const bool cleared : {true, false}) {
        std::size_t revokes = 0;
        bool more = true;
        for (std::size_t step = 0; more; ++step) {
            SCOPED_TRACE((cleared ? "clear, before step " : "drain, before step ") + std::to_string(step));
            pool_type pool({.name = "stepped", .capacity = 10});
            const handle<int> first = pool.emplace(1);
            support::stepper other(step, [&] {
                if (cleared) {
                    pool.clear();
                } else {
                    pool.drain([](handle<int>, int&&) {});
                }
            });
            more = other.stopped();
            const handle<int> revoked = pool.revoke(first);
            revokes += revoked ? 1U : 0U;
            other.finish();
            if (more) {
                ASSERT_FALSE(pool.contains(first));
                ASSERT_FALSE(pool.contains(revoked));
                ASSERT_EQ(pool.size(), 0U);
            }
        }
        EXPECT_GT(revokes, 1U);
    }
}

TEST(drain, of_a_raw_pool_leaves_the_objects_to_the_sink) {
    int destroyed = 0;
    std::vector<int> drained;
    {
        raw_pool<> pool({.name = "raw", .capacity = 10},
                        {.size = sizeof(int),
                         .alignment = alignof(int),
                         .destroy = [](void*, void* context) noexcept { ++*static_cast<int*>(context); },
                         .context = &destroyed});
        pool.emplace([](void* memory) { ::new (memory) int(1); });
        pool.compact();
        pool.emplace([](void* memory) { ::new (memory) int(2); });
        EXPECT_EQ(
            pool.drain([&](handle<void>, void* object) { drained.push_back(*static_cast<int*>(object)); }),
            2U);
        EXPECT_TRUE(pool.empty());
    }
    EXPECT_THAT(drained, ElementsAre(1, 2));
    EXPECT_EQ(destroyed, 0);
}

} // namespace
} // namespace handlepool::test

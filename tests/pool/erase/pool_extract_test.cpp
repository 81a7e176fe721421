// SPDX-License-Identifier: MIT

// Objects that are taken out: erased, and moved into a sink by the next compaction.

#include <handlepool/pool.hpp>
#include <handlepool/raw_pool.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <support/steps/tiny_policy.hpp>
#include <tests/support/consistency.hpp>
#include <tests/support/hostile_types.hpp>
#include <tests/support/random.hpp>
#include <tests/support/threads.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using strings = pool<std::string>;

TEST(extract, moves_the_object_into_the_sink_at_the_next_compaction) {
    strings pool({.name = "strings", .capacity = 10});
    const auto old = pool.emplace("old");
    pool.compact();
    const auto newborn = pool.emplace("newborn");
    const auto survivor = pool.emplace("survivor");
    std::vector<std::string> taken;
    const auto sink = [&](std::string&& object) { taken.push_back(std::move(object)); };
    EXPECT_TRUE(pool.extract(old, sink));
    EXPECT_TRUE(pool.extract(newborn, sink));
    EXPECT_FALSE(pool.contains(old));
    EXPECT_EQ(pool.size(), 1U);
    EXPECT_FALSE(pool.idle());
    EXPECT_THAT(taken, IsEmpty());
    const compaction_stats done = pool.compact();
    EXPECT_EQ(done.removed, 2U);
    EXPECT_THAT(taken, ElementsAre("old", "newborn"));
    EXPECT_TRUE(pool.idle());
    EXPECT_EQ(pool.at(survivor), "survivor");
    pool.compact();
    EXPECT_EQ(taken.size(), 2U) << "once";
    expect_consistent(pool);
}

TEST(extract, gives_the_next_compaction_something_to_do) {
    strings pool({.name = "strings", .capacity = 10});
    const auto old = pool.emplace("old");
    pool.compact();
    EXPECT_TRUE(pool.idle());
    pool.extract(old, [](std::string&&) {});
    EXPECT_FALSE(pool.idle());
    pool.compact();
    EXPECT_TRUE(pool.idle());
}

TEST(extract, refuses_what_is_stale_null_or_foreign) {
    strings pool({.name = "strings", .capacity = 10});
    strings other({.name = "other", .capacity = 10});
    int calls = 0;
    const auto sink = [&](std::string&&) { ++calls; };
    const auto twice = pool.emplace("a");
    EXPECT_TRUE(pool.extract(twice, sink));
    EXPECT_FALSE(pool.extract(twice, sink));
    EXPECT_FALSE(pool.erase(twice));
    const auto erased = pool.emplace("b");
    EXPECT_TRUE(pool.erase(erased));
    EXPECT_FALSE(pool.extract(erased, sink));
    EXPECT_FALSE(pool.extract({}, sink));
    EXPECT_FALSE(pool.extract(other.emplace("foreign"), sink));
    pool.compact();
    EXPECT_FALSE(pool.extract(twice, sink));
    EXPECT_EQ(calls, 1);
}

TEST(extract, destroys_the_moved_from_object_and_the_sink_once) {
    census counts;
    const auto owned = std::make_shared<int>();
    pool<counted> pool({.name = "counted", .capacity = 10});
    std::vector<counted> taken;
    taken.reserve(1);
    const auto one = pool.emplace(counts, 7U);
    EXPECT_TRUE(pool.extract(one, [owned, &taken](counted&& object) { taken.push_back(std::move(object)); }));
    EXPECT_EQ(owned.use_count(), 2);
    EXPECT_EQ(pool.find(one), nullptr);
    pool.compact();
    EXPECT_EQ(owned.use_count(), 1);
    EXPECT_EQ(counts.alive(), 1);
    EXPECT_EQ(taken.front().value(), 7U);
}

TEST(extract, lets_the_sink_ignore_the_object_return_something_and_be_movable_only) {
    struct sink {
        [[nodiscard]] int operator()(move_only&& object) & {
            return static_cast<int>(*sum += object.value());
        }
        std::unique_ptr<std::uint64_t> owned;
        std::uint64_t* sum;
    };
    pool<move_only> pool({.name = "move only", .capacity = 10});
    std::uint64_t sum = 0;
    EXPECT_TRUE(pool.extract(pool.emplace(7U), sink{.owned = nullptr, .sum = &sum}));
    pool.compact();
    EXPECT_EQ(sum, 7U);
}

TEST(extract, calls_the_hooks_first) {
    std::vector<std::string> calls;
    strings pool({.name = "strings", .capacity = 10});
    const auto one = pool.emplace("x");
    const auto connection = pool.on_destroy([&](handle<std::string> handle, std::string& object) {
        EXPECT_EQ(handle, one);
        EXPECT_FALSE(pool.contains(handle));
        calls.push_back("hook " + object);
        object += '!';
    });
    pool.extract(one, [&](std::string&& object) { calls.push_back("sink " + object); });
    pool.compact();
    EXPECT_THAT(calls, ElementsAre("hook x", "sink x!"));
}

TEST(extract, is_delivered_by_the_pools_end_and_by_reset) {
    const auto delivered_by = [](auto end) {
        int sum = 0;
        { // int is trivially destructible: without extractions, neither would visit the objects
            pool<int> pool({.name = "ints", .capacity = 10});
            const auto old = pool.emplace(1);
            pool.compact();
            pool.extract(old, [&](int&& object) { sum += object; });
            pool.extract(pool.emplace(2), [&](int&& object) { sum += object; });
            pool.emplace(4);
            end(pool);
        }
        return sum;
    };
    EXPECT_EQ(delivered_by([](auto&) {}), 3);
    EXPECT_EQ(delivered_by([](auto& pool) {
                  pool.reset();
                  EXPECT_TRUE(pool.idle());
                  EXPECT_EQ(pool.size(), 0U);
                  pool.emplace(8);
                  expect_consistent(pool);
              }),
              3);
}

TEST(extract, sink_may_create_erase_and_take_in_its_pool) {
    int taken = 0;
    pool<int> pool({.name = "ints", .capacity = 10});
    const auto other = pool.emplace(100);
    const auto third = pool.emplace(102);
    handle<int> next;
    pool.compact();
    pool.extract(pool.emplace(1), [&](int&& object) {
        taken += object;
        EXPECT_TRUE(pool.erase(other));
        next = pool.emplace(object + 1);
        EXPECT_TRUE(pool.extract(next, [&](int&& later) { taken += 10 * later; }));
        EXPECT_EQ(pool.at(third), 102);
    });
    pool.compact();
    EXPECT_EQ(taken, 1);
    EXPECT_FALSE(pool.idle());
    EXPECT_EQ(pool.size(), 1U);
    pool.compact();
    EXPECT_EQ(taken, 21);
    EXPECT_TRUE(pool.idle());
    expect_consistent(pool);
}

TEST(extract, works_at_the_pools_end_from_destructors_and_sinks) {
    int taken = 0;
    const auto sink = [&](re_entrant&&) { ++taken; };
    {
        pool<re_entrant> pool({.name = "re-entrant", .capacity = 10});
        pool.emplace(nullptr, [&] { pool.extract(pool.emplace(nullptr), sink); });
    }
    EXPECT_EQ(taken, 1);
}

TEST(extract, leaves_nothing_changed_when_there_is_no_memory_or_the_sink_can_not_be_moved) {
    struct unmovable_sink {
        explicit unmovable_sink(bool& when) : fails(&when) {}
        unmovable_sink(unmovable_sink&& other) : fails(other.fails) {
            if (*fails) {
                throw std::runtime_error("can't be moved");
            }
        }
        void operator()(int&&) const {}
        bool* fails;
    };
    pool<int> pool({.name = "ints", .capacity = 10});
    const auto one = pool.emplace(1);
    bool fails = true;
    EXPECT_THROW(pool.extract(one, unmovable_sink(fails)), std::runtime_error);
    EXPECT_TRUE(pool.contains(one));
    pool.compact();
    EXPECT_TRUE(pool.idle());
    fails = false;
    EXPECT_TRUE(pool.extract(one, unmovable_sink(fails)));
    pool.compact();
    EXPECT_EQ(pool.size(), 0U);
}

TEST(extract, keeps_over_aligned_objects_aligned_and_wide_ones_whole) {
    pool<over_aligned<64>> aligned({.name = "aligned", .capacity = 4});
    std::uint64_t seen = 0;
    aligned.extract(aligned.emplace(3U), [&](over_aligned<64>&& object) {
        EXPECT_TRUE(object.is_aligned());
        seen = object.value;
    });
    aligned.compact();
    EXPECT_EQ(seen, 3U);
}

TEST(extract, uses_up_slots_like_erase) {
    using narrow = handle_layout<4, 4, 4>;
    pool<int, with_layout<narrow>> pool({.name = "narrow", .capacity = 1, .reuse_delay = 0});
    std::size_t retired = 0;
    for (int lives = 0; retired == 0; ++lives) {
        ASSERT_LT(lives, 20);
        pool.extract(pool.emplace(lives), [](int&&) {});
        retired += pool.compact().retired;
    }
    EXPECT_EQ(pool.stats().slots_retired, 1U);
}

TEST(extract, is_left_to_its_sink_by_a_sweep) {
    pool<int> pool({.name = "swept", .capacity = 100, .removal_queue_size = 1});
    std::vector<handle<int>> handles;
    pool.emplace_n(50, std::back_inserter(handles), [](std::size_t i) { return static_cast<int>(i); });
    pool.compact();
    int taken = 0;
    for (std::size_t i = 0; i != handles.size(); ++i) {
        EXPECT_TRUE(i % 2 == 0 ? pool.erase(handles[i])
                               : pool.extract(handles[i], [&](int&& object) { taken += object; }));
    }
    const auto done = pool.compact();
    EXPECT_GT(done.swept, 0U);
    EXPECT_EQ(done.removed, 50U);
    EXPECT_EQ(taken, 25 * 25);
    expect_consistent(pool);
}

TEST(extract, of_a_raw_pool_leaves_the_object_to_the_sink) {
    struct life {
        int relocated = 0;
        int destroyed = 0;
    } seen;
    const raw_type type{
        .size = sizeof(int),
        .alignment = alignof(int),
        .relocate =
            [](void* to, void* from, void* context) noexcept {
                *static_cast<int*>(to) = *static_cast<int*>(from);
                ++static_cast<life*>(context)->relocated;
            },
        .destroy = [](void*, void* context) noexcept { ++static_cast<life*>(context)->destroyed; },
        .context = &seen};
    int taken = 0;
    {
        raw_pool<> pool({.name = "raw", .capacity = 4}, type);
        const auto one = pool.emplace([](void* memory) { ::new (memory) int(7); });
        EXPECT_TRUE(pool.extract(one, [&](void* object) { type.relocate(&taken, object, type.context); }));
        pool.compact();
    }
    EXPECT_EQ(taken, 7);
    EXPECT_EQ(seen.relocated, 1);
    EXPECT_EQ(seen.destroyed, 0);
}

// Threads that take and erase the same objects, while others compact and sweep: each object goes to exactly
// one.
TEST(extract, gives_each_object_to_one_of_many_threads) {
    using tiny = support::tiny_policy<2>;
    constexpr std::size_t rounds = 30;
    constexpr std::size_t objects = 60;
    census counts;
    std::atomic<std::size_t> delivered = 0;
    std::atomic<std::size_t> taken = 0;
    std::atomic<std::size_t> erased = 0;
    pool<counted, with_policy<tiny>> pool({.name = "contended", .capacity = 200, .removal_queue_size = 2});
    for (std::size_t round = 0; round != rounds; ++round) {
        std::vector<handle<counted>> handles;
        for (std::size_t i = 0; i != objects; ++i) {
            handles.push_back(pool.emplace(counts, i));
            if (i == objects / 2) {
                pool.compact();
            }
        }
        in_threads(4, [&](std::size_t thread) {
            if (thread == 0) {
                pool.compact();
                pool.compact();
                return;
            }
            for (std::size_t i = 0; i != objects; ++i) {
                if ((i + thread) % 2 == 0) {
                    erased += pool.erase(handles[i]) ? 1U : 0U;
                } else {
                    taken += pool.extract(handles[i],
                                          [&, i](counted&& object) {
                                              EXPECT_EQ(object.value(), i);
                                              ++delivered;
                                          })
                                 ? 1U
                                 : 0U;
                }
            }
        });
        expect_consistent(pool);
        ASSERT_EQ(pool.size(), 0U);
        ASSERT_TRUE(pool.idle());
        ASSERT_EQ(delivered.load(), taken.load());
    }
    EXPECT_EQ(taken + erased, rounds * objects);
    EXPECT_GT(taken.load(), 0U);
}

// Random creations, erases, extractions and compactions against a plain list.
TEST(extract, agrees_with_an_oracle) {
    random_source random(7);
    pool<int> pool({.name = "random", .capacity = 300, .removal_queue_size = 8});
    std::vector<std::pair<handle<int>, int>> alive;
    std::vector<int> to_come;
    std::vector<int> delivered;
    for (int step = 0; step != 5000; ++step) {
        const auto choice = random.below(100);
        if (choice < 45 && alive.size() < 200) {
            alive.emplace_back(pool.emplace(step), step);
        } else if (choice < 97 && !alive.empty()) {
            const auto victim = alive.begin() + static_cast<std::ptrdiff_t>(random.below(alive.size()));
            if (choice % 2 == 0) {
                ASSERT_TRUE(pool.erase(victim->first));
            } else {
                ASSERT_TRUE(pool.extract(victim->first, [&](int&& object) { delivered.push_back(object); }));
                to_come.push_back(victim->second);
            }
            alive.erase(victim);
        } else if (choice >= 97) {
            pool.compact();
            ASSERT_EQ(delivered, to_come) << "in the order of the calls";
            ASSERT_EQ(pool.items().size(), alive.size());
            for (const auto& [handle, value] : alive) {
                ASSERT_EQ(pool.at(handle), value);
            }
        }
    }
    EXPECT_GT(delivered.size(), 100U);
    expect_consistent(pool);
}

} // namespace
} // namespace handlepool::test

// SPDX-License-Identifier: MIT

// The invariants that users get, one test or more for each.
//
// 1. A handle resolves to the object it was given for, or to nothing.
// 2. Of any number of racing erases of one handle exactly one returns true; the destructor runs exactly once.
// 3. After erase returned true, no look-up that starts later succeeds. Every history is linearizable
//    (pool_history_test).
// 4. After a quiescent compaction the dense store is exactly the live objects; owner and slot agree both
// ways.
// 5. Nothing is lost, neither objects nor slots.
// 6. A slot is reused only after reuse_delay other slots were freed since.
// 7. A thread stopped anywhere blocks no other thread's operation (pool_stopped_test).

#include <handlepool/pool.hpp>

#include <gtest/gtest.h>
#include <support/steps/tiny_policy.hpp>
#include <tests/support/consistency.hpp>
#include <tests/support/hostile_types.hpp>
#include <tests/support/random.hpp>
#include <tests/support/threads.hpp>

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <optional>
#include <vector>

namespace handlepool::test {
namespace {

using namespace detail;
using numbers = pool<std::uint64_t>;
using narrow_layout = handle_layout<32, 3, 29>; // three objects a slot

TEST(invariant_1, handle_is_not_revived_when_generations_run_out) {
    pool<std::uint64_t, with_layout<narrow_layout>> pool(
        {.name = "narrow", .capacity = 1, .reuse_delay = 0, .slot_limit = 5});
    std::vector<handle<std::uint64_t, narrow_layout>> dead;
    while (const auto handle = pool.try_emplace(dead.size())) {
        for (const auto old : dead) {
            ASSERT_FALSE(pool.contains(old));
            ASSERT_NE(old, handle);
        }
        ASSERT_TRUE(pool.erase(handle));
        dead.push_back(handle);
        pool.compact();
    }
    EXPECT_EQ(dead.size(), 5U * 3U);
    EXPECT_EQ(pool.stats().slots_retired, 5U);
    EXPECT_THROW(pool.emplace(1U), pool_used_up);
}

TEST(invariant_1, handle_is_not_revived_by_clear_or_reset) {
    numbers pool({.name = "numbers", .capacity = 10, .reuse_delay = 0});
    std::vector<numbers::handle_type> dead;
    for (int round = 0; round < 50; ++round) {
        std::vector<numbers::handle_type> handles;
        pool.emplace_n(10, std::back_inserter(handles), 1U);
        for (const auto old : dead) {
            ASSERT_FALSE(pool.contains(old));
            ASSERT_EQ(pool.find(old), nullptr);
            ASSERT_FALSE(pool.erase(old));
        }
        if (round % 3 == 0) {
            pool.clear();
            pool.compact();
        } else if (round % 3 == 1) {
            pool.reset();
        } else {
            pool.compact();
            pool.reset();
        }
        dead.insert(dead.end(), handles.begin(), handles.end());
    }
}

TEST(invariant_1, handle_of_another_pool_is_refused) {
    numbers one({.name = "one", .capacity = 10});
    numbers two({.name = "two", .capacity = 10});
    const auto first = one.emplace(1U);
    const auto second = two.emplace(2U);
    EXPECT_EQ(first.index(), second.index());
    EXPECT_FALSE(one.contains(second));
    EXPECT_FALSE(two.erase(first));
}

TEST(invariant_1, handle_of_a_destroyed_pool_is_refused_by_the_next_with_its_id_and_place) {
    std::optional<numbers> pool;
    std::vector<numbers::handle_type> dead;
    for (int round = 0; round < 5; ++round) {
        pool.emplace(pool_options{.name = "again", .capacity = 10, .pool_id = 1000});
        std::vector<numbers::handle_type> handles;
        pool->emplace_n(10, std::back_inserter(handles), 1U);
        for (const auto old : dead) {
            ASSERT_FALSE(pool->contains(old));
        }
        dead.insert(dead.end(), handles.begin(), handles.end());
    }
}

/// Whatever comes to live in the slots of a pool with room for two.
void expect_to_revive_none(pool<re_entrant>& pool, const std::vector<handle<re_entrant>>& dead) {
    for (int life = 0; life != 30; ++life) {
        const auto one = pool.emplace(re_entrant::callback{});
        const auto other = pool.emplace(re_entrant::callback{});
        for (const auto old : dead) {
            ASSERT_FALSE(pool.contains(old)) << "in life " << life;
        }
        pool.erase(one);
        pool.erase(other);
        pool.compact();
    }
}

// The end of a pool calls destructors, and what those create has handles too.
TEST(invariant_1, handle_made_by_a_destructor_at_the_end_of_a_pool_is_refused_by_the_next_with_its_id) {
    using pool_type = pool<re_entrant>;
    const pool_options options{.name = "again", .capacity = 2, .reuse_delay = 0, .pool_id = 1001};
    std::vector<pool_type::handle_type> dead; // of the same few slots, life by life
    pool_type* ending = nullptr;
    std::function<void()> be_reborn = [&] {
        if (dead.size() < 20) {
            dead.push_back(ending->try_emplace(re_entrant::callback{}, be_reborn));
        }
    };
    {
        pool_type pool(options);
        ending = &pool;
        pool.emplace(re_entrant::callback{}, be_reborn);
    }
    ASSERT_EQ(dead.size(), 20U);
    pool_type next(options);
    expect_to_revive_none(next, dead);
}

TEST(invariant_1, handle_made_by_a_destructor_in_a_reset_is_not_revived) {
    using pool_type = pool<re_entrant>;
    pool_type pool({.name = "again", .capacity = 2, .reuse_delay = 0});
    std::vector<pool_type::handle_type> dead; // of the same few slots, life by life
    std::function<void()> be_reborn = [&] {
        if (dead.size() < 20) {
            dead.push_back(pool.try_emplace(re_entrant::callback{}, be_reborn));
        }
    };
    pool.emplace(re_entrant::callback{}, be_reborn);
    pool.reset();
    ASSERT_EQ(dead.size(), 20U);
    expect_to_revive_none(pool, dead);
}

TEST(invariant_1, forged_bits_resolve_to_nothing) {
    random_source random(6);
    numbers pool({.name = "numbers", .capacity = 1000});
    std::map<std::uint64_t, std::uint64_t> living;
    for (std::uint64_t i = 0; i < 1000; ++i) {
        living[pool.emplace(i).value()] = i;
    }
    const auto expect_right = [&](std::uint64_t bits) {
        const auto handle = numbers::handle_type::from_value(bits);
        const auto known = living.find(bits);
        if (known == living.end()) {
            ASSERT_EQ(pool.find(handle), nullptr) << bits;
            ASSERT_FALSE(pool.contains(handle)) << bits;
            ASSERT_FALSE(pool.erase(handle)) << bits;
        } else {
            ASSERT_EQ(*pool.find(handle), known->second);
        }
    };
    for (const std::uint64_t bits :
         {std::uint64_t{0}, ~std::uint64_t{0}, std::uint64_t{5000}, ~std::uint64_t{0} >> 1}) {
        expect_right(bits);
    }
    for (const auto& [bits, value] : living) {
        for (unsigned bit = 0; bit < 64; ++bit) {
            expect_right(bits ^ std::uint64_t{1} << bit);
        }
        expect_right(bits + (std::uint64_t{1} << 32)); // the next generation
        expect_right(bits + (std::uint64_t{2} << 32));
        expect_right(bits - (std::uint64_t{1} << 32));
    }
    for (int i = 0; i < 1'000'000; ++i) {
        const std::uint64_t bits = random.bits();
        expect_right(bits);
        expect_right(bits % 2000 | bits >> 32 << 32);                                  // an index in service
        expect_right(bits % 2000 | std::uint64_t{pool.id()} << 54 | bits >> 60 << 32); // and this pool, young
    }
    EXPECT_EQ(pool.size(), living.size());
}

TEST(invariant_1, handle_of_a_free_slot_that_guesses_its_next_generation_is_refused) {
    numbers pool({.name = "numbers", .capacity = 10, .reuse_delay = 0});
    const auto first = pool.emplace(1U);
    pool.erase(first);
    pool.compact();
    const auto guessed = numbers::handle_type::from_value(first.value() + (std::uint64_t{2} << 32));
    const auto freed = numbers::handle_type::from_value(first.value() + (std::uint64_t{1} << 32));
    EXPECT_FALSE(pool.contains(guessed));
    EXPECT_FALSE(pool.contains(freed));
    EXPECT_FALSE(pool.erase(freed));
    EXPECT_EQ(pool.find(freed), nullptr);
}

TEST(invariant_2, one_of_all_racing_erases_wins_and_the_destructor_runs_once) {
    constexpr std::size_t thread_count = 4;
    constexpr std::size_t object_count = 2000;
    census counts;
    pool<counted> pool({.name = "counted", .capacity = object_count});
    for (int round = 0; round < 5; ++round) {
        std::vector<handle<counted>> handles;
        pool.emplace_n(object_count, std::back_inserter(handles), std::ref(counts));
        if (round % 2 == 0) {
            pool.compact();
        }
        std::vector<std::atomic<int>> wins(object_count);
        in_threads(thread_count, [&](std::size_t) {
            for (std::size_t i = 0; i < object_count; ++i) {
                wins[i] += pool.erase(handles[i]) ? 1 : 0;
            }
        });
        EXPECT_TRUE(std::all_of(wins.begin(), wins.end(), [](const auto& count) { return count == 1; }));
        EXPECT_EQ(counts.alive(), static_cast<std::int64_t>(object_count)) << "before compaction";
        EXPECT_EQ(pool.compact().removed, object_count);
        EXPECT_EQ(counts.alive(), 0);
    }
}

TEST(invariant_3, no_lookup_succeeds_after_the_erase_of_which_it_knows) {
    constexpr std::size_t object_count = 20'000;
    numbers pool({.name = "numbers", .capacity = object_count});
    std::vector<numbers::handle_type> handles;
    pool.emplace_n(object_count, std::back_inserter(handles), 1U);
    std::atomic<std::size_t> erased = 0;
    std::atomic<std::size_t> wrong = 0;
    in_threads(3, [&](std::size_t thread) {
        if (thread == 0) {
            for (std::size_t i = 0; i < object_count; ++i) {
                pool.erase(handles[i]);
                erased.store(i + 1, std::memory_order::release);
            }
            return;
        }
        for (std::size_t known = 0; known < object_count;) {
            known = erased.load(std::memory_order::acquire);
            for (std::size_t i = known; i > known - std::min<std::size_t>(known, 50); --i) {
                wrong += pool.contains(handles[i - 1]) || pool.find(handles[i - 1]) != nullptr ||
                                 pool.erase(handles[i - 1])
                             ? 1
                             : 0;
            }
        }
    });
    EXPECT_EQ(wrong, 0U);
}

TEST(invariant_4, object_store_is_exactly_the_living_objects) {
    random_source random(4);
    numbers pool({.name = "numbers", .capacity = 3000});
    std::map<std::uint64_t, numbers::handle_type> living;
    std::uint64_t next = 0;
    for (int frame = 0; frame < 200; ++frame) {
        for (std::uint64_t i = random.below(60); i > 0 && living.size() < 1000; --i) {
            living[next] = pool.emplace(next);
            ++next;
        }
        for (std::uint64_t i = random.below(60); i > 0 && !living.empty(); --i) {
            auto victim = living.lower_bound(random.below(next));
            victim = victim == living.end() ? living.begin() : victim;
            ASSERT_TRUE(pool.erase(victim->second));
            living.erase(victim);
        }
        expect_consistent(pool);
        std::vector<std::uint64_t> stored(pool.begin(), pool.end());
        std::sort(stored.begin(), stored.end());
        std::vector<std::uint64_t> expected;
        for (const auto& [value, handle] : living) {
            expected.push_back(value);
            EXPECT_EQ(pool.at(handle), value);
        }
        ASSERT_EQ(stored, expected);
    }
}

TEST(invariant_5, nothing_is_lost_when_threads_create_and_erase_each_others_objects) {
    constexpr std::size_t thread_count = 4;
    census counts;
    pool<counted> pool({.name = "counted", .capacity = 20'000});
    std::vector<std::vector<handle<counted>>> handles(thread_count);
    for (std::size_t frame = 0; frame < 20; ++frame) {
        in_threads(thread_count, [&](std::size_t thread) {
            auto& mine = handles[(thread + frame) % thread_count]; // another thread's last frame
            pool.erase(std::span(mine).first(mine.size() / 2));
            mine.erase(mine.begin(), mine.begin() + static_cast<std::ptrdiff_t>(mine.size() / 2));
            pool.emplace_n(500, std::back_inserter(mine), std::ref(counts));
        });
        expect_consistent(pool);
        std::size_t expected = 0;
        for (const auto& some : handles) {
            expected += some.size();
        }
        EXPECT_EQ(pool.size(), expected);
        EXPECT_EQ(counts.alive(), static_cast<std::int64_t>(expected));
    }
}

template <class Policy>
void expect_reuse_distance(std::size_t delay) {
    random_source random(delay);
    pool<int, with_policy<Policy>> pool({.name = "reused", .capacity = 100, .reuse_delay = delay});
    std::vector<typename decltype(pool)::handle_type> living;
    std::vector<typename decltype(pool)::handle_type> erased; // since the last compaction
    std::map<std::uint64_t, std::size_t> freed_at;            // by slot: how many were freed before it
    std::size_t freed = 0;
    std::size_t reused = 0;
    for (int frame = 0; frame < 500; ++frame) {
        while (!living.empty() && random.below(100) < living.size()) {
            const std::size_t victim = random.below(living.size());
            ASSERT_TRUE(pool.erase(living[victim]));
            erased.push_back(living[victim]);
            living.erase(living.begin() + static_cast<std::ptrdiff_t>(victim));
        }
        pool.compact();
        for (const auto handle : erased) {
            freed_at[handle.index()] = freed++;
        }
        erased.clear();
        for (std::uint64_t i = random.below(60); i > 0 && living.size() < 100; --i) {
            living.push_back(pool.emplace(1));
            if (const auto before = freed_at.find(living.back().index()); before != freed_at.end()) {
                ASSERT_GE(freed - before->second - 1, delay);
                ++reused;
            }
        }
    }
    EXPECT_GT(reused, 1000U);
    EXPECT_GE(pool.stats().smallest_reuse_distance, delay);
}

TEST(invariant_6, slot_is_reused_only_after_the_delay) {
    for (const std::size_t delay : {0U, 1U, 7U, 100U}) {
        expect_reuse_distance<default_policy>(delay);
        expect_reuse_distance<support::tiny_policy<1>>(delay);
        expect_reuse_distance<support::tiny_policy<2>>(delay);
    }
}

TEST(invariant_6, slot_is_reused_only_after_the_delay_whatever_the_threads_do) {
    constexpr std::size_t delay = 500;
    numbers pool({.name = "numbers", .capacity = 2000, .reuse_delay = delay});
    for (int frame = 0; frame < 100; ++frame) {
        in_threads(4, [&](std::size_t) {
            for (std::uint64_t i = 0; i < 400; ++i) {
                pool.erase(pool.emplace(i));
            }
        });
        pool.compact();
    }
    EXPECT_GE(pool.stats().smallest_reuse_distance, delay);
    EXPECT_GT(pool.stats().created, 100'000U) << "slots were reused";
}

} // namespace
} // namespace handlepool::test

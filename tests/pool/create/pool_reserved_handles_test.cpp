// SPDX-License-Identifier: MIT

// Handles that are given out before their objects: reserve, fulfill, cancel, state.

#include <handlepool/pool.hpp>
#include <handlepool/raw_pool.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <support/steps/step_atomics.hpp>
#include <support/steps/tiny_policy.hpp>
#include <tests/support/chosen_module.hpp>
#include <tests/support/consistency.hpp>
#include <tests/support/hostile_types.hpp>
#include <tests/support/made_up.hpp>
#include <tests/support/random.hpp>
#include <tests/support/stop_at_every_access.hpp>
#include <tests/support/threads.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

namespace handlepool::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;
using numbers = pool<std::uint64_t>;

pool_options small(std::size_t capacity = 10) {
    return {.name = "ships", .capacity = capacity, .reuse_delay = 0};
}

TEST(reserved_handle, resolves_when_it_is_fulfilled_and_not_before) {
    numbers pool(small());
    const auto handle = pool.reserve_handle();
    ASSERT_TRUE(handle);
    EXPECT_EQ(pool.state(handle), handle_state::reserved);
    EXPECT_FALSE(pool.contains(handle));
    EXPECT_EQ(pool.find(handle), nullptr);
    EXPECT_FALSE(pool.erase(handle));
    EXPECT_FALSE(pool.revoke(handle));
    EXPECT_EQ(pool.size(), 0U);
    pool.fulfill(handle, 7U);
    EXPECT_EQ(pool.state(handle), handle_state::alive);
    EXPECT_EQ(pool.at(handle), 7U);
    EXPECT_EQ(pool.handle_of(pool.at(handle)), handle);
    EXPECT_EQ(pool.size(), 1U);
    expect_consistent(pool);
    EXPECT_EQ(pool.handle_at(0), handle);
    EXPECT_TRUE(pool.erase(handle));
    EXPECT_EQ(pool.state(handle), handle_state::stale);
    expect_consistent(pool);
}

TEST(reserved_handle, is_fulfilled_in_a_slot_that_had_other_objects) {
    numbers pool(small(1));
    for (std::uint64_t i = 0; i != 100; ++i) {
        const auto handle = pool.reserve_handle();
        EXPECT_EQ(pool.state(handle), handle_state::reserved);
        pool.compact();
        pool.fulfill(handle, i);
        EXPECT_EQ(pool.at(handle), i);
        if (i % 2 == 0) {
            pool.compact();
        }
        EXPECT_TRUE(pool.erase(handle));
        expect_consistent(pool);
        EXPECT_EQ(pool.state(handle), handle_state::stale);
    }
}

TEST(reserved_handle, stays_reserved_through_compactions_and_clear) {
    numbers pool(small());
    const auto erased = pool.emplace(1U);
    const auto handle = pool.reserve_handle();
    pool.clear();
    pool.shrink_to_fit();
    expect_consistent(pool);
    EXPECT_EQ(pool.state(erased), handle_state::stale);
    EXPECT_EQ(pool.state(handle), handle_state::reserved);
    EXPECT_TRUE(pool.idle()) << "a reserved handle is no work for a compaction";
    pool.fulfill(handle, 2U);
    EXPECT_FALSE(pool.idle());
    expect_consistent(pool);
}

TEST(reserved_handle, counts_as_reserved_and_takes_room_until_it_is_closed) {
    using one_by_one = pool<std::uint64_t, with_policy<support::tiny_policy<1>>>;
    one_by_one pool({.name = "ships", .capacity = 3, .reuse_delay = 0, .slot_limit = 3});
    std::array handles{pool.reserve_handle(), pool.reserve_handle(), pool.reserve_handle()};
    EXPECT_EQ(pool.stats().slots_reserved, 3U);
    EXPECT_EQ(pool.stats().created, 0U);
    EXPECT_FALSE(pool.try_reserve_handle());
    EXPECT_FALSE(pool.try_emplace(1U));
    EXPECT_THROW(pool.reserve_handle(), pool_exhausted);
    EXPECT_TRUE(pool.cancel(handles[0]));
    EXPECT_EQ(pool.stats().slots_reserved, 2U);
    EXPECT_TRUE(pool.try_emplace(1U)) << "a cancelled handle's slot is free at once";
    pool.fulfill(handles[1], 2U);
    EXPECT_EQ(pool.stats().slots_reserved, 1U);
    EXPECT_EQ(pool.stats().created, 2U);
    expect_consistent(pool);
}

TEST(reserved_handle, can_be_fulfilled_once_only) {
    numbers pool(small());
    const auto handle = pool.reserve_handle();
    EXPECT_TRUE(pool.try_fulfill(handle, 1U));
    EXPECT_FALSE(pool.try_fulfill(handle, 2U));
    EXPECT_THAT([&] { pool.fulfill(handle, 2U); },
                ThrowsMessage<not_reserved>(AllOf(HasSubstr("pool 'ships': handle #"),
                                                  HasSubstr("is not reserved: it has its object"))));
    EXPECT_FALSE(pool.cancel(handle));
    EXPECT_EQ(pool.at(handle), 1U);
    pool.erase(handle);
    EXPECT_THAT([&] { pool.fulfill(handle, 2U); }, ThrowsMessage<not_reserved>(HasSubstr("erased")));
    pool.compact();
    EXPECT_FALSE(pool.try_fulfill(handle, 2U));
    EXPECT_EQ(pool.size(), 0U);
}

TEST(reserved_handle, can_be_cancelled_once_only_and_is_then_stale_for_ever) {
    numbers pool(small(1));
    const auto handle = pool.reserve_handle();
    EXPECT_TRUE(pool.cancel(handle));
    EXPECT_FALSE(pool.cancel(handle));
    EXPECT_EQ(pool.state(handle), handle_state::stale);
    EXPECT_THAT([&] { pool.fulfill(handle, 1U); },
                ThrowsMessage<not_reserved>(HasSubstr("is not reserved: reserved and cancelled")));
    const auto next = pool.emplace(2U);
    EXPECT_EQ(next.index(), handle.index());
    EXPECT_NE(next, handle);
    EXPECT_FALSE(pool.contains(handle));
    EXPECT_FALSE(pool.try_fulfill(handle, 3U));
    EXPECT_FALSE(pool.cancel(handle));
    EXPECT_EQ(pool.at(next), 2U);
    expect_consistent(pool);
}

TEST(reserved_handle, of_the_same_slot_does_not_answer_for_another) {
    numbers pool(small(1));
    const auto first = pool.reserve_handle();
    pool.cancel(first);
    const auto second = pool.reserve_handle();
    ASSERT_EQ(first.index(), second.index());
    EXPECT_EQ(pool.state(first), handle_state::stale);
    EXPECT_FALSE(pool.try_fulfill(first, 1U));
    EXPECT_FALSE(pool.cancel(first));
    EXPECT_EQ(pool.state(second), handle_state::reserved);
    pool.fulfill(second, 2U);
    EXPECT_EQ(pool.at(second), 2U);
}

TEST(handle_state_test, is_stale_for_all_that_was_not_given_out) {
    numbers pool(small());
    numbers other(small());
    using handle_type = numbers::handle_type;
    const auto reserved = pool.reserve_handle();
    const auto alive = pool.emplace(1U);
    const auto foreign = made_up<handle_type>(reserved.index(), reserved.generation(), other.id());
    pool.erase(pool.emplace(2U));
    pool.compact(); // a slot that is free, and had an object
    for (std::uint64_t index = 0; index != 12; ++index) {
        for (std::uint32_t generation = 0; generation != 8; ++generation) {
            for (const std::uint32_t id : {pool.id(), other.id()}) {
                const auto forged = made_up<handle_type>(index, generation, id);
                if (forged == reserved || forged == alive) {
                    continue;
                }
                EXPECT_EQ(pool.state(forged), handle_state::stale) << index << ' ' << generation;
                EXPECT_FALSE(pool.try_fulfill(forged, 3U));
                EXPECT_FALSE(pool.cancel(forged));
            }
        }
    }
    for (const auto forged : {handle_type(), foreign, handle_type::from_value(~std::uint64_t{0}),
                              handle_type::from_value(reserved.value() + 0xffff'0000U)}) {
        EXPECT_EQ(pool.state(forged), handle_state::stale);
        EXPECT_FALSE(pool.try_fulfill(forged, 3U));
        EXPECT_FALSE(pool.cancel(forged));
        EXPECT_THROW(pool.fulfill(forged, 3U), not_reserved);
    }
    EXPECT_EQ(pool.state(reserved), handle_state::reserved);
    EXPECT_EQ(pool.state(alive), handle_state::alive);
    EXPECT_EQ(pool.size(), 1U);
}

TEST(reserved_handle, is_described) {
    numbers pool(small());
    const auto handle = pool.reserve_handle();
    EXPECT_THAT(pool.describe(handle), HasSubstr(": reserved, no object yet"));
    EXPECT_THAT([&] { pool.at(handle); },
                ThrowsMessage<stale_handle>(HasSubstr("is reserved and has no object yet")));
    const auto cancelled = pool.reserve_handle();
    pool.cancel(cancelled);
    EXPECT_THAT(pool.describe(cancelled), HasSubstr(": reserved and cancelled"));
    pool.fulfill(handle, 1U);
    EXPECT_THAT(pool.describe(handle), HasSubstr(": alive"));
    EXPECT_THAT([&] { pool.fulfill({}, 1U); }, ThrowsMessage<not_reserved>(HasSubstr("the null handle")));
}

TEST(reserved_handle, is_stale_after_a_reset_and_never_given_out_again) {
    using layout = handle_layout<32, 6, 26>;
    pool<int, with_layout<layout>> pool(small(4));
    std::vector<handle<int, layout>> reserved;
    for (int round = 0; round != 20; ++round) {
        reserved.push_back(pool.reserve_handle());
        reserved.push_back(pool.reserve_handle());
        pool.fulfill(reserved.back(), 1);
        reserved.push_back(pool.reserve_handle());
        pool.reset();
        EXPECT_EQ(pool.stats().slots_reserved, 0U);
        for (const auto old : reserved) {
            EXPECT_EQ(pool.state(old), handle_state::stale);
            EXPECT_FALSE(pool.try_fulfill(old, 1));
        }
        std::vector<handle<int, layout>> made;
        for (int i = 0; i != 4; ++i) {
            made.push_back(pool.emplace(i));
            EXPECT_EQ(std::ranges::count(reserved, made.back()), 0);
        }
        pool.erase(made);
        reserved.insert(reserved.end(), made.begin(), made.end());
        expect_consistent(pool);
        if (pool.stats().handle_limit == 0 || !pool.try_emplace(1)) {
            break;
        }
        if (layout::generation_of(reserved.back().tag()) + 6 > layout::last_generation) {
            break;
        }
    }
    EXPECT_GT(reserved.size(), 30U);
}

// No object's generation stands above that of the handle.
TEST(reserved_handle, that_is_alone_in_its_pool_is_not_given_out_again_either) {
    using layout = handle_layout<32, 19, 13>; // nobody else's
    handle<int, layout> old;
    for (int round = 0; round != 4; ++round) {
        pool<int, with_layout<layout>> pool({.name = "ships", .capacity = 1, .reuse_delay = 0, .pool_id = 5});
        for (int use = 0; use != 4; ++use) {
            if (use == 2) { // in a slot that had an object
                pool.erase(pool.emplace(1));
                pool.compact();
            }
            EXPECT_EQ(pool.state(old), handle_state::stale);
            const auto reserved = pool.reserve_handle();
            EXPECT_GT(reserved.generation(), old.generation());
            old = reserved;
            if (use != 3) {
                pool.reset();
            }
        }
    }
}

TEST(reserved_handle, is_stale_in_the_next_pool_with_that_id) {
    using layout = handle_layout<32, 18, 14>; // nobody else's
    std::optional<pool<int, with_layout<layout>>> pool;
    std::vector<handle<int, layout>> old;
    for (int round = 0; round != 10; ++round) {
        pool.emplace(pool_options{.name = "ships", .capacity = 3, .reuse_delay = 0, .pool_id = 5});
        for (const auto each : old) {
            EXPECT_EQ(pool->state(each), handle_state::stale);
        }
        for (int i = 0; i != 3; ++i) {
            const auto handle = i == 1 ? pool->emplace(1) : pool->reserve_handle();
            EXPECT_EQ(std::ranges::count(old, handle), 0);
            old.push_back(handle);
        }
        pool.reset();
    }
}

// Generations 1, 3 and 5.
TEST(reserved_handle, retires_its_slot_when_the_last_one_is_cancelled) {
    using layout = handle_layout<32, 3, 29>;
    pool<int, with_layout<layout, with_policy<support::tiny_policy<1>>>> pool(
        {.name = "narrow", .capacity = 1, .reuse_delay = 0, .slot_limit = 3});
    EXPECT_EQ(pool.stats().handle_limit, 9U);
    std::vector<handle<int, layout>> cancelled;
    while (const auto handle = pool.try_reserve_handle()) {
        ASSERT_EQ(pool.state(handle), handle_state::reserved);
        ASSERT_TRUE(pool.cancel(handle));
        for (const auto old : cancelled) {
            ASSERT_NE(old, handle);
            ASSERT_EQ(pool.state(old), handle_state::stale);
        }
        cancelled.push_back(handle);
    }
    EXPECT_EQ(cancelled.size(), 9U);
    EXPECT_EQ(pool.stats().slots_retired, 3U);
    EXPECT_THROW(pool.reserve_handle(), pool_used_up);
    expect_consistent(pool);
}

TEST(reserved_handle, of_the_last_generation_is_fulfilled_like_the_others) {
    using layout = handle_layout<32, 3, 29>;
    pool<int, with_layout<layout, with_policy<support::tiny_policy<1>>>> pool(
        {.name = "narrow", .capacity = 1, .reuse_delay = 0, .slot_limit = 2});
    int made = 0;
    while (const auto handle = pool.try_reserve_handle()) {
        pool.fulfill(handle, ++made);
        EXPECT_EQ(pool.at(handle), made);
        pool.erase(handle);
        pool.compact();
    }
    EXPECT_EQ(made, 6);
    EXPECT_EQ(pool.stats().slots_retired, 2U);
}

// ---- Exceptions and re-entrance

TEST(fulfillment_that_throws, leaves_the_handle_reserved_and_nothing_else) {
    census people;
    pool<throwing> pool(small(1));
    const auto handle = pool.reserve_handle();
    for (int i = 0; i != 300; ++i) { // more than the nursery has positions
        fuse when(0);
        EXPECT_THROW(pool.fulfill(handle, when, people), construction_failure);
        EXPECT_EQ(pool.state(handle), handle_state::reserved);
        fuse again(0);
        EXPECT_THROW(pool.try_fulfill(handle, again, people), construction_failure);
    }
    EXPECT_EQ(people.alive(), 0);
    EXPECT_EQ(pool.stats().slots_reserved, 1U);
    fuse never(1'000'000);
    pool.fulfill(handle, never, people, 7U);
    EXPECT_EQ(pool.at(handle).value(), 7U);
    expect_consistent(pool);
}

TEST(fulfillment_in_progress, keeps_the_handle_reserved_and_refuses_all_others) {
    pool<re_entrant> pool(small());
    const auto handle = pool.reserve_handle();
    int seen = 0;
    pool.fulfill(handle, [&] {
        ++seen;
        EXPECT_EQ(pool.state(handle), handle_state::reserved);
        EXPECT_FALSE(pool.contains(handle));
        EXPECT_FALSE(pool.cancel(handle));
        EXPECT_FALSE(pool.try_fulfill(handle, nullptr));
        EXPECT_THAT([&] { pool.fulfill(handle, nullptr); },
                    ThrowsMessage<not_reserved>(HasSubstr("another thread is making its object")));
        pool.compact();
        const auto other = pool.reserve_handle();
        pool.fulfill(other, nullptr);
        EXPECT_TRUE(pool.contains(other));
    });
    EXPECT_EQ(seen, 1);
    EXPECT_TRUE(pool.contains(handle));
    expect_consistent(pool);
    EXPECT_EQ(pool.size(), 2U);
}

TEST(fulfillment_by_a_destructor, comes_while_a_compaction_and_the_pools_end_run) {
    std::optional<pool<re_entrant>> pool(small());
    for (const bool by_compaction : {true, false}) {
        const auto handle = pool->reserve_handle();
        int born = 0;
        int died = 0;
        const auto parent = pool->emplace(
            nullptr, [&, handle] { born += pool->try_fulfill(handle, nullptr, [&] { ++died; }) ? 1 : 0; });
        if (by_compaction) {
            pool->erase(parent);
            pool->compact();
            EXPECT_TRUE(pool->contains(handle));
            pool->erase(handle);
            expect_consistent(*pool);
        } else {
            pool.reset();
        }
        EXPECT_EQ(born, 1);
        EXPECT_EQ(died, 1);
    }
}

TEST(fulfilled_object, may_be_move_only_or_over_aligned) {
    pool<move_only> unique(small());
    const auto handle = unique.reserve_handle();
    unique.fulfill(handle, move_only(7));
    unique.compact();
    EXPECT_EQ(unique.at(handle).value(), 7U);
    pool<over_aligned<4096>> aligned(small());
    const auto wide = aligned.reserve_handle();
    aligned.fulfill(wide, 8U);
    EXPECT_TRUE(aligned.at(wide).is_aligned());
    aligned.compact();
    EXPECT_TRUE(aligned.at(wide).is_aligned());
}

TEST(fulfilled_object, is_seen_by_hooks_under_its_handle) {
    numbers pool(small());
    const auto handle = pool.reserve_handle();
    std::vector<numbers::handle_type> died;
    pool.on_destroy([&](numbers::handle_type which, std::uint64_t&) { died.push_back(which); }).release();
    pool.fulfill(handle, 1U);
    pool.erase(handle);
    pool.compact();
    EXPECT_THAT(died, testing::ElementsAre(handle));
}

// A thread of another module's numbering finds no shard in the pool.
TEST(reserved_handle, can_be_cancelled_by_a_thread_without_a_shard) {
    chosen_module::chosen = 1;
    pool<int, with_policy<chosen_module>> pool(small(1));
    const auto handle = pool.reserve_handle();
    chosen_module::chosen = 2;
    EXPECT_FALSE(pool.try_reserve_handle());
    EXPECT_THROW(pool.reserve_handle(), foreign_module);
    EXPECT_FALSE(pool.try_fulfill(handle, 1));
    EXPECT_THROW(pool.fulfill(handle, 1), foreign_module);
    EXPECT_EQ(pool.state(handle), handle_state::reserved);
    EXPECT_TRUE(pool.cancel(handle));
    EXPECT_EQ(pool.stats().slots_reserved, 0U);
    chosen_module::chosen = 1;
    expect_consistent(pool);
    pool.reset();
    EXPECT_EQ(pool.stats().slots_reserved, 0U);
    pool.reserve_handle();
    EXPECT_EQ(pool.stats().slots_reserved, 1U);
}

// ---- Raw pools

TEST(raw_reserved_handle, is_fulfilled_by_a_function_or_with_zeros) {
    raw_pool<> pool(small(), {.size = 8, .alignment = 8});
    const std::array handles{pool.reserve_handle(), pool.reserve_handle(), pool.reserve_handle()};
    EXPECT_EQ(pool.state(handles[0]), handle_state::reserved);
    pool.fulfill(handles[0], [](void* memory) { std::memset(memory, 7, 8); });
    pool.fulfill(handles[1]);
    EXPECT_FALSE(pool.try_fulfill(handles[1], [](void*) { ADD_FAILURE(); }));
    EXPECT_THROW(pool.fulfill(handles[1]), not_reserved);
    EXPECT_TRUE(pool.cancel(handles[2]));
    EXPECT_EQ(*static_cast<std::uint64_t*>(pool.find(handles[0])), 0x0707'0707'0707'0707U);
    EXPECT_EQ(*static_cast<std::uint64_t*>(pool.find(handles[1])), 0U);
    const auto failed = pool.reserve_handle();
    EXPECT_THROW(pool.fulfill(failed, [](void*) { throw construction_failure(); }), construction_failure);
    EXPECT_EQ(pool.state(failed), handle_state::reserved);
    EXPECT_TRUE(pool.try_fulfill(failed));
    EXPECT_FALSE(pool.try_fulfill(failed));
    EXPECT_EQ(*static_cast<std::uint64_t*>(pool.find(failed)), 0U);
    pool.compact();
    EXPECT_EQ(pool.items().size(), 3U);
}

// ---- Against an oracle

template <class Policy>
void expect_states_as_told(std::uint64_t seed) {
    constexpr std::size_t capacity = 24;
    pool<std::uint64_t, with_policy<Policy>> pool(small(capacity));
    using handle_type = typename decltype(pool)::handle_type;
    struct known {
        handle_type handle;
        handle_state state;
        std::uint64_t value;
    };
    std::vector<known> all;
    random_source random(seed);
    const auto any_of = [&](handle_state state) -> known* {
        std::vector<known*> found;
        for (known& each : all) {
            if (each.state == state) {
                found.push_back(&each);
            }
        }
        return found.empty() ? nullptr : found[random.below(found.size())];
    };
    for (std::uint64_t step = 0; step != 2000; ++step) {
        switch (random.below(7)) {
        case 0:
        case 1:
            if (const auto made = pool.try_reserve_handle()) {
                all.push_back({made, handle_state::reserved, 0});
            }
            break;
        case 2:
            if (known* const one = any_of(handle_state::reserved)) {
                ASSERT_TRUE(pool.try_fulfill(one->handle, step));
                one->state = handle_state::alive;
                one->value = step;
            }
            break;
        case 3:
            if (known* const one = any_of(handle_state::reserved)) {
                ASSERT_TRUE(pool.cancel(one->handle));
                one->state = handle_state::stale;
            }
            break;
        case 4:
            if (known* const one = any_of(handle_state::alive)) {
                ASSERT_TRUE(pool.erase(one->handle));
                one->state = handle_state::stale;
            }
            break;
        case 5:
            if (known* const one = any_of(handle_state::alive)) {
                const auto next = pool.revoke(one->handle);
                ASSERT_TRUE(next);
                const known renamed{next, handle_state::alive, one->value};
                one->state = handle_state::stale;
                all.push_back(renamed);
            }
            break;
        default:
            pool.compact();
        }
        if (step % 50 == 0) {
            std::size_t reserved = 0;
            std::size_t alive = 0;
            for (const known& each : all) {
                ASSERT_EQ(pool.state(each.handle), each.state);
                const auto* const found = pool.find(each.handle);
                ASSERT_EQ(found != nullptr, each.state == handle_state::alive);
                ASSERT_TRUE(found == nullptr || *found == each.value);
                ASSERT_TRUE(each.state != handle_state::stale || !pool.try_fulfill(each.handle, 1U));
                reserved += each.state == handle_state::reserved ? 1U : 0U;
                alive += each.state == handle_state::alive ? 1U : 0U;
            }
            ASSERT_EQ(pool.stats().slots_reserved, reserved);
            ASSERT_EQ(pool.size(), alive);
            expect_consistent(pool);
        }
    }
}

TEST(reserved_handles, do_what_a_sequential_oracle_says) {
    for (std::uint64_t seed = 1; seed != 6; ++seed) {
        expect_states_as_told<support::tiny_policy<1>>(seed);
        expect_states_as_told<support::tiny_policy<2>>(seed);
        expect_states_as_told<default_policy>(seed);
    }
}

// ---- Threads

TEST(reserved_handles, are_closed_by_exactly_one_of_many_threads) {
    constexpr std::size_t threads = 4;
    numbers pool(small(64));
    for (int round = 0; round != 50; ++round) {
        std::array<numbers::handle_type, 32> handles;
        for (auto& each : handles) {
            each = pool.reserve_handle();
        }
        std::array<std::atomic<int>, 32> winners{};
        std::array<std::atomic<int>, 32> cancelled{};
        in_threads(threads, [&](std::size_t thread) {
            if (thread == threads - 1) {
                pool.compact();
            }
            for (std::size_t i = 0; i != handles.size(); ++i) {
                if ((i + thread) % 3 == 0) {
                    if (pool.cancel(handles[i])) {
                        ++winners[i];
                        ++cancelled[i];
                    }
                } else {
                    winners[i] += pool.try_fulfill(handles[i], thread) ? 1 : 0;
                }
            }
        });
        for (std::size_t i = 0; i != handles.size(); ++i) {
            ASSERT_EQ(winners[i], 1);
            ASSERT_EQ(pool.contains(handles[i]), cancelled[i] == 0);
        }
        ASSERT_EQ(pool.stats().slots_reserved, 0U);
        pool.clear();
        expect_consistent(pool);
    }
}

struct one_reserved {
    pool<int, with_policy<support::step_policy>> objects{
        {.name = "one", .capacity = 4, .reuse_delay = 0, .max_threads = 8}};
    handle<int> reserved = objects.reserve_handle();
    bool won = false;
    int value = 0;
};

// Wherever a fulfillment stops, the handle is reserved or alive, and others can do all the rest.
TEST(stopped_fulfillment, leaves_the_handle_reserved_or_alive) {
    test::stop_at_every_access<one_reserved>(
        [](one_reserved& scene) { scene.won = scene.objects.try_fulfill(scene.reserved, 7); },
        [](one_reserved& scene) {
            const handle_state first = scene.objects.state(scene.reserved);
            EXPECT_NE(first, handle_state::stale);
            EXPECT_TRUE(scene.objects.try_emplace(1));
            scene.objects.compact();
            EXPECT_EQ(scene.objects.state(scene.reserved), first);
        },
        [](one_reserved& scene) {
            EXPECT_TRUE(scene.won);
            EXPECT_EQ(scene.objects.state(scene.reserved), handle_state::alive);
            expect_consistent(scene.objects);
        });
}

TEST(stopped_cancel, lets_no_one_else_have_the_handle) {
    test::stop_at_every_access<one_reserved>(
        [](one_reserved& scene) { scene.won = scene.objects.cancel(scene.reserved); },
        [](one_reserved& scene) {
            scene.value = scene.objects.try_fulfill(scene.reserved, 7) ? 7 : 0;
            scene.objects.compact();
        },
        [](one_reserved& scene) {
            EXPECT_EQ(scene.won, scene.value == 0);
            EXPECT_EQ(scene.objects.contains(scene.reserved), scene.value == 7);
            expect_consistent(scene.objects);
        });
}

} // namespace
} // namespace handlepool::test

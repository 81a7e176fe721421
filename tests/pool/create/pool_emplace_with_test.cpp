// SPDX-License-Identifier: MIT

// Objects that know their own handles.

#include <handlepool/pool.hpp>
#include <handlepool/raw_pool.hpp>

#include <gtest/gtest.h>
#include <support/steps/step_atomics.hpp>
#include <support/steps/tiny_policy.hpp>
#include <tests/support/chosen_module.hpp>
#include <tests/support/consistency.hpp>
#include <tests/support/hostile_types.hpp>
#include <tests/support/stop_at_every_access.hpp>
#include <tests/support/threads.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

pool_options small(std::size_t capacity = 10) {
    return {.name = "ships", .capacity = capacity, .reuse_delay = 0};
}

struct ship {
    handle<ship> self;
    int crew = 0;
};

TEST(emplace_with, tells_the_object_its_own_handle) {
    pool<ship> pool(small());
    for (int i = 0; i != 50; ++i) {
        const auto handle = pool.emplace_with([i](auto self) { return ship{self, i}; });
        EXPECT_EQ(pool.at(handle).self, handle);
        EXPECT_EQ(pool.at(handle).crew, i);
        if (i % 3 == 0) {
            pool.compact();
            EXPECT_EQ(pool.at(handle).self, handle);
        }
        EXPECT_TRUE(pool.erase(handle));
        expect_consistent(pool);
    }
    EXPECT_EQ(pool.stats().created, 50U);
    EXPECT_EQ(pool.stats().slots_reserved, 0U);
}

TEST(emplace_with, calls_with_a_handle_that_is_reserved) {
    pool<ship> pool(small());
    const auto handle = pool.emplace_with([&](auto self) {
        EXPECT_TRUE(self);
        EXPECT_EQ(pool.state(self), handle_state::reserved);
        EXPECT_FALSE(pool.contains(self));
        EXPECT_FALSE(pool.try_fulfill(self, ship{}));
        EXPECT_FALSE(pool.cancel(self));
        EXPECT_FALSE(pool.erase(self));
        EXPECT_FALSE(pool.revoke(self));
        pool.compact();
        return ship{self, 1};
    });
    EXPECT_TRUE(pool.contains(handle));
    expect_consistent(pool);
}

// Where it is made in the nursery, there it is looked at: nothing was moved.
struct knows_its_place {
    explicit knows_its_place(int given) : value(given), place(this) {}
    knows_its_place(knows_its_place&& other) noexcept : value(other.value), place(other.place) { ++moves; }

    int value;
    const void* place;
    inline static int moves = 0;
};

TEST(emplace_with, makes_the_object_in_place) {
    knows_its_place::moves = 0;
    pool<knows_its_place> pool(small());
    const auto handle = pool.emplace_with([](auto) { return knows_its_place(7); });
    EXPECT_EQ(pool.at(handle).place, &pool.at(handle));
    EXPECT_EQ(knows_its_place::moves, 0);
}

TEST(emplace_with, takes_what_the_object_can_be_made_from) {
    pool<std::uint64_t> numbers(small());
    EXPECT_EQ(numbers.at(numbers.emplace_with([](auto) { return 7U; })), 7U);
    pool<move_only> unique(small());
    const auto handle = unique.emplace_with([held = std::make_unique<int>(7)](auto) mutable {
        return move_only(static_cast<std::uint64_t>(*std::exchange(held, nullptr)));
    });
    EXPECT_EQ(unique.at(handle).value(), 7U);
    pool<over_aligned<1024>> aligned(small());
    EXPECT_TRUE(aligned.at(aligned.emplace_with([](auto) { return over_aligned<1024>(1); })).is_aligned());
}

// What a function has seen must never name another object, or the handle would be a dangling one.
TEST(emplace_with, leaves_a_handle_that_never_resolves_when_it_throws) {
    census people;
    pool<counted> pool(small(1));
    std::vector<handle<counted>> seen;
    for (int i = 0; i != 300; ++i) {
        EXPECT_THROW(pool.emplace_with([&](auto self) -> counted {
            seen.push_back(self);
            const counted halfway(people);
            throw construction_failure();
        }),
                     construction_failure);
        EXPECT_EQ(pool.state(seen.back()), handle_state::stale);
        const auto made = pool.emplace(people, 7U);
        EXPECT_EQ(std::ranges::count(seen, made), 0);
        for (const auto old : seen) {
            ASSERT_FALSE(pool.contains(old));
        }
        pool.erase(made);
        expect_consistent(pool);
    }
    EXPECT_EQ(people.alive(), 0);
    EXPECT_EQ(pool.stats().slots_reserved, 0U);
}

TEST(emplace_with, is_refused_by_a_full_pool_and_calls_nothing) {
    using one_by_one = pool<ship, with_policy<support::tiny_policy<1>>>;
    one_by_one pool({.name = "ships", .capacity = 1, .reuse_delay = 0, .slot_limit = 1});
    pool.emplace();
    const auto make = [](auto) -> ship { throw construction_failure(); };
    EXPECT_FALSE(pool.try_emplace_with(make));
    EXPECT_THROW(pool.emplace_with(make), pool_exhausted);
}

TEST(emplace_with, uses_slots_up_also_when_it_throws) {
    using layout = handle_layout<32, 3, 29>;
    pool<int, with_layout<layout, with_policy<support::tiny_policy<1>>>> pool(
        {.name = "narrow", .capacity = 1, .reuse_delay = 0, .slot_limit = 2});
    std::size_t calls = 0;
    for (; calls != 100; ++calls) {
        try {
            pool.emplace_with([](auto) -> int { throw construction_failure(); });
        } catch (const construction_failure&) {
            continue;
        } catch (const pool_used_up&) {
            break;
        }
    }
    EXPECT_EQ(calls, pool.stats().handle_limit);
    EXPECT_EQ(pool.stats().slots_retired, 2U);
}

TEST(emplace_with, is_refused_in_a_thread_without_a_shard) {
    chosen_module::chosen = 1;
    pool<int, with_policy<chosen_module>> pool(small());
    pool.emplace(1);
    chosen_module::chosen = 2;
    const auto make = [](auto) -> int { throw construction_failure(); };
    EXPECT_FALSE(pool.try_emplace_with(make));
    EXPECT_THROW(pool.emplace_with(make), foreign_module);
    chosen_module::chosen = 1;
}

TEST(emplace_with, may_make_others_meanwhile) {
    struct node {
        handle<node> self;
        handle<node> child;
    };
    pool<node> pool(small());
    const auto parent = pool.emplace_with(
        [&](auto self) { return node{self, pool.emplace_with([](auto inner) { return node{inner, {}}; })}; });
    ASSERT_TRUE(pool.contains(parent));
    const auto child = pool.at(parent).child;
    EXPECT_NE(child, parent);
    EXPECT_EQ(pool.at(child).self, child);
    expect_consistent(pool);
    EXPECT_EQ(pool.size(), 2U);
}

TEST(emplace_with, works_in_many_threads_while_compactions_run) {
    pool<ship> pool(small(10'000));
    in_threads(4, [&](std::size_t thread) {
        std::vector<handle<ship>> mine;
        for (int i = 0; i != 2000; ++i) {
            if (i % 5 == 1) {
                EXPECT_THROW(pool.emplace_with([](auto) -> ship { throw construction_failure(); }),
                             construction_failure);
            }
            mine.push_back(pool.emplace_with([i](auto self) { return ship{self, i}; }));
            if (thread == 0 && i % 100 == 0) {
                pool.compact();
            }
            if (i % 3 == 0) {
                EXPECT_TRUE(pool.erase(mine[static_cast<std::size_t>(i) / 2]) || i % 2 == 0);
            }
        }
    });
    expect_consistent(pool);
    for (std::size_t i = 0; i != pool.items().size(); ++i) {
        EXPECT_EQ(pool.items()[i].self, pool.handle_at(i));
    }
}

struct one_that_fails {
    pool<int, with_policy<support::step_policy>> objects{
        {.name = "one", .capacity = 4, .reuse_delay = 0, .max_threads = 8}};
    handle<int> leaked;
};

TEST(stopped_emplace_with, that_throws_never_lets_another_thread_have_the_handle) {
    test::stop_at_every_access<one_that_fails>(
        [](one_that_fails& scene) {
            EXPECT_THROW(scene.objects.emplace_with([&](auto self) -> int {
                scene.leaked = self;
                throw construction_failure();
            }),
                         construction_failure);
        },
        [](one_that_fails& scene) {
            EXPECT_FALSE(scene.objects.try_fulfill(scene.leaked, 1));
            EXPECT_FALSE(scene.objects.cancel(scene.leaked));
            EXPECT_NE(scene.objects.state(scene.leaked), handle_state::alive);
        },
        [](one_that_fails& scene) {
            EXPECT_EQ(scene.objects.state(scene.leaked), handle_state::stale);
            EXPECT_EQ(scene.objects.stats().slots_reserved, 0U);
            expect_consistent(scene.objects);
        });
}

TEST(raw_emplace_with, tells_the_function_the_handle) {
    raw_pool<> pool(small(), {.size = 8, .alignment = 8});
    const auto write = [](void* memory, any_handle self) {
        const auto value = self.value();
        std::memcpy(memory, &value, sizeof(value));
    };
    const auto handle = pool.emplace_with(write);
    EXPECT_EQ(*static_cast<std::uint64_t*>(pool.find(handle)), handle.value());
    any_handle seen;
    EXPECT_THROW(pool.emplace_with([&](void*, any_handle self) {
        seen = self;
        throw construction_failure();
    }),
                 construction_failure);
    EXPECT_EQ(pool.state(seen), handle_state::stale);
    EXPECT_TRUE(pool.try_emplace_with(write));
    pool.compact();
    EXPECT_EQ(pool.items().size(), 2U);
}

// What can't be a maker is refused where it is written.
template <class Make>
concept can_make_a_ship = requires(pool<ship>& pool, Make make) { pool.emplace_with(make); };
static_assert(can_make_a_ship<ship (*)(handle<ship>)> && can_make_a_ship<ship (*)(any_handle)>);
static_assert(!can_make_a_ship<ship (*)(handle<int>)> && !can_make_a_ship<int* (*)(handle<ship>)> &&
              !can_make_a_ship<ship (*)()>);

} // namespace
} // namespace handlepool::test

// SPDX-License-Identifier: MIT

// New handles for living objects.

#include <handlepool/pool.hpp>
#include <handlepool/raw_pool.hpp>
#include <handlepool/thread_executor.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <support/steps/step_atomics.hpp>
#include <support/steps/tiny_policy.hpp>
#include <tests/support/chosen_module.hpp>
#include <tests/support/consistency.hpp>
#include <tests/support/hostile_types.hpp>
#include <tests/support/stop_at_every_access.hpp>
#include <tests/support/tabulate.hpp>
#include <tests/support/threads.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace handlepool::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using numbers = pool<std::uint64_t>;
using id = numbers::handle_type;

pool_options small(std::size_t capacity = 10) {
    return {.name = "ships", .capacity = capacity, .reuse_delay = 0};
}

class revoked_handle : public testing::TestWithParam<bool> {
protected:
    /// An object in the dense store, or in the nursery.
    id make(numbers& pool, std::uint64_t value) {
        const id made = pool.emplace(value);
        if (GetParam()) {
            pool.compact();
        }
        return made;
    }
};
INSTANTIATE_TEST_SUITE_P(of_an_object, revoked_handle, testing::Bool(),
                         [](const auto& one) { return one.param ? "in_the_dense_store" : "in_the_nursery"; });

TEST_P(revoked_handle, is_stale_and_the_object_lives_under_another) {
    numbers pool(small());
    const id old = make(pool, 7);
    const std::uint64_t* const object = pool.find(old);
    const id now = pool.revoke(old);
    ASSERT_TRUE(now);
    EXPECT_NE(now, old);
    EXPECT_EQ(now.index(), old.index());
    EXPECT_EQ(pool.find(now), object) << "it stays where it is";
    EXPECT_EQ(pool.handle_of(*object), now);
    EXPECT_EQ(pool.size(), 1U);
    const auto expect_dead = [&](const char* when) {
        EXPECT_FALSE(pool.contains(old)) << when;
        EXPECT_EQ(pool.find(old), nullptr) << when;
        EXPECT_EQ(pool.state(old), handle_state::stale) << when;
        EXPECT_FALSE(pool.erase(old)) << when;
        EXPECT_FALSE(pool.revoke(old)) << when;
        EXPECT_EQ(pool.at(now), 7U) << when;
    };
    expect_dead("before a compaction");
    expect_consistent(pool);
    expect_dead("after it");
    EXPECT_EQ(pool.handle_at(0), now);
    EXPECT_TRUE(pool.erase(now));
    EXPECT_FALSE(pool.contains(now));
    expect_consistent(pool);
    EXPECT_EQ(pool.size(), 0U);
}

TEST_P(revoked_handle, can_be_revoked_again_and_again) {
    census people;
    pool<counted> pool(small());
    auto handle = pool.emplace(people, 7U);
    std::vector<decltype(handle)> old;
    for (int i = 0; i != 100; ++i) {
        old.push_back(handle);
        handle = pool.revoke(handle);
        ASSERT_TRUE(handle);
        if (GetParam() && i % 7 == 0) {
            pool.compact();
        }
    }
    for (const auto each : old) {
        EXPECT_FALSE(pool.contains(each));
    }
    EXPECT_EQ(pool.at(handle).value(), 7U);
    expect_consistent(pool);
    EXPECT_TRUE(pool.erase(handle));
    expect_consistent(pool);
    EXPECT_EQ(people.alive(), 0);
}

TEST_P(revoked_handle, is_not_the_one_under_which_hooks_see_the_object) {
    numbers pool(small());
    std::vector<id> died;
    pool.on_destroy([&](id which, std::uint64_t&) { died.push_back(which); }).release();
    const id now = pool.revoke(make(pool, 1));
    pool.erase(now);
    pool.compact();
    EXPECT_THAT(died, ElementsAre(now));
}

TEST_P(revoked_handle, of_an_erased_object_gives_none) {
    numbers pool(small());
    const id old = make(pool, 1);
    pool.erase(old);
    EXPECT_FALSE(pool.revoke(old));
    pool.compact();
    EXPECT_FALSE(pool.revoke(old));
    EXPECT_FALSE(pool.revoke({}));
    EXPECT_FALSE(pool.revoke(id::from_value(~std::uint64_t{0})));
    numbers other(small());
    const id foreign = other.emplace(2U);
    make(pool, 3);
    EXPECT_FALSE(pool.revoke(foreign));
    EXPECT_TRUE(other.contains(foreign));
}

TEST_P(revoked_handle, of_the_last_generation_stays) {
    using layout = handle_layout<32, 3, 29>;
    pool<int, with_layout<layout>> pool({.name = "narrow", .capacity = 1, .reuse_delay = 0, .slot_limit = 1});
    auto handle = pool.emplace(7);
    if (GetParam()) {
        pool.compact();
    }
    handle = pool.revoke(handle);
    handle = pool.revoke(handle);
    ASSERT_EQ(handle.generation(), layout::last_generation);
    EXPECT_FALSE(pool.revoke(handle)) << "no generation is left";
    EXPECT_TRUE(pool.contains(handle)) << "and the object lives on";
    EXPECT_EQ(pool.at(handle), 7);
    EXPECT_TRUE(pool.erase(handle));
    EXPECT_EQ(pool.compact().retired, 1U);
    EXPECT_EQ(pool.stats().slots_retired, 1U);
    EXPECT_THROW(pool.emplace(1), pool_used_up);
}

TEST_P(revoked_handle, is_described_as_gone) {
    numbers pool({.name = "ships", .capacity = 10, .remember_frames = true});
    const id old = make(pool, 1);
    pool.compact();
    pool.compact();
    const std::string before = pool.describe(old);
    const id now = pool.revoke(old);
    EXPECT_THAT(pool.describe(old), HasSubstr("or revoked"));
    const auto age = [](const std::string& text) { return text.substr(text.find(':')); };
    EXPECT_EQ(age(pool.describe(now)), age(before)) << "its age is the object's";
    EXPECT_THAT(before, HasSubstr("frames ago"));
    pool.erase(now);
    pool.compact();
    EXPECT_THAT(pool.describe(now), HasSubstr("erased 1 frame ago"));
    EXPECT_THAT(pool.describe(old), HasSubstr("or revoked"));
}

TEST(revoked_newborn, is_as_old_as_the_object_once_it_is_taken_in) {
    numbers pool({.name = "ships", .capacity = 1, .reuse_delay = 0, .remember_frames = true});
    id old = pool.emplace(1U);
    old = pool.revoke(old);
    pool.compact();
    pool.compact();
    old = pool.revoke(old);
    EXPECT_THAT(pool.describe(old), HasSubstr("created 2 frames ago"));
    EXPECT_THAT(pool.oldest(1), ElementsAre(old));
    pool.erase(old);
    pool.compact();
    const id next = pool.emplace(2U);
    EXPECT_EQ(next.index(), old.index());
    EXPECT_THAT(pool.describe(next), HasSubstr("created in this frame"))
        << "the former object's age is not its own";
    EXPECT_THAT(pool.describe(pool.revoke(next)), HasSubstr("created in this frame"));
}

TEST(revoked_newborn, keeps_no_other_from_the_dense_store) {
    numbers pool(small());
    std::vector<id> made;
    pool.emplace_n(10, std::back_inserter(made), 7U);
    for (std::size_t i = 0; i < 10; i += 2) {
        made[i] = pool.revoke(pool.revoke(made[i]));
    }
    pool.erase(made[4]);
    EXPECT_EQ(pool.compact().born, 9U);
    EXPECT_EQ(pool.items().size(), 9U);
    expect_consistent(pool);
}

// The queue for one removal overflows, so that the compaction sweeps.
TEST(revoked_newborn, is_found_by_a_sweep_when_it_is_erased_without_a_record) {
    census people;
    using one_by_one = pool<counted, with_policy<support::tiny_policy<1>>>;
    one_by_one pool(
        {.name = "ships", .capacity = 20, .reuse_delay = 0, .removal_queue_size = 1, .max_threads = 8});
    std::vector<one_by_one::handle_type> died;
    pool.on_destroy([&](one_by_one::handle_type which, counted&) { died.push_back(which); }).release();
    auto made = tabulate(std::uint64_t{20}, [&](std::uint64_t i) { return pool.emplace(people, i); });
    for (std::size_t i = 0; i != 20; ++i) {
        for (std::size_t times = i % 3; times != 0; --times) {
            made[i] = pool.revoke(made[i]);
        }
    }
    EXPECT_EQ(pool.erase(made), 20U);
    EXPECT_GT(pool.compact().swept, 0U);
    EXPECT_EQ(people.alive(), 0);
    EXPECT_THAT(died, testing::UnorderedElementsAreArray(made));
    expect_consistent(pool);
}

TEST(revoked_object, of_a_constructor_that_is_still_running_has_no_handle_yet) {
    pool<re_entrant> pool(small());
    id::value_type seen = 0;
    const auto handle = pool.emplace([&] { seen = pool.oldest(1).size(); });
    EXPECT_EQ(seen, 0U);
    EXPECT_TRUE(pool.revoke(handle));
}

TEST(revoked_object, of_a_raw_pool) {
    raw_pool<> pool(small(), {.size = 8, .alignment = 8});
    const auto old = pool.emplace();
    const auto now = pool.revoke(old);
    EXPECT_TRUE(now);
    EXPECT_FALSE(pool.contains(old));
    pool.compact();
    EXPECT_EQ(pool.handle_at(0), now);
    EXPECT_TRUE(pool.erase(now));
    pool.compact();
    EXPECT_EQ(pool.size(), 0U);
}

TEST(revoked_object, by_a_thread_without_a_shard) {
    chosen_module::chosen = 1;
    pool<int, with_policy<chosen_module>> pool(small());
    const auto old = pool.emplace(1);
    chosen_module::chosen = 2;
    const auto now = pool.revoke(old);
    EXPECT_TRUE(pool.contains(now));
    EXPECT_TRUE(pool.erase(now));
    chosen_module::chosen = 1;
    expect_consistent(pool);
    EXPECT_EQ(pool.size(), 0U);
}

TEST(revoked_object, is_not_revived_by_a_reset_or_a_new_pool) {
    using layout = handle_layout<32, 17, 15>; // nobody else's
    handle<int, layout> now;
    for (int round = 0; round != 3; ++round) {
        pool<int, with_layout<layout>> pool({.name = "ships", .capacity = 1, .reuse_delay = 0, .pool_id = 5});
        EXPECT_EQ(pool.state(now), handle_state::stale);
        now = pool.revoke(pool.revoke(pool.emplace(1)));
        pool.reset();
        EXPECT_FALSE(pool.contains(now));
        const auto next = pool.emplace(2);
        EXPECT_GT(next.generation(), now.generation());
        now = pool.revoke(next);
    }
}

TEST(racing_revokes_and_erases, have_exactly_one_winner) {
    numbers pool(small(100));
    thread_executor workers(1);
    for (int round = 0; round != 30; ++round) {
        std::vector<id> handles;
        pool.emplace_n(50, std::back_inserter(handles), 7U);
        if (round % 2 == 0) {
            pool.compact();
        }
        std::array<std::atomic<int>, 50> wins{};
        std::array<std::atomic<std::uint64_t>, 50> now{};
        in_threads(4, [&](std::size_t thread) {
            if (thread == 0) {
                pool.compact();
            }
            for (std::size_t i = 0; i != handles.size(); ++i) {
                if ((i + thread) % 2 == 0) {
                    wins[i] += pool.erase(handles[i]) ? 1 : 0;
                } else if (const id next = pool.revoke(handles[i])) {
                    ++wins[i];
                    now[i] = next.value();
                }
            }
        });
        for (std::size_t i = 0; i != handles.size(); ++i) {
            ASSERT_EQ(wins[i], 1);
            ASSERT_FALSE(pool.contains(handles[i]));
            ASSERT_TRUE(now[i] == 0 || pool.at(id::from_value(now[i])) == 7U);
        }
        expect_consistent(pool);
        pool.clear();
        expect_consistent(pool);
    }
}

struct one_newborn {
    pool<int, with_policy<support::step_policy>> objects{
        {.name = "one", .capacity = 4, .reuse_delay = 0, .max_threads = 8}};
    handle<int> old = objects.emplace(7);
    handle<int> now;
};

// A compaction that is stopped anywhere, and meets an object whose handle has changed since.
TEST(stopped_compaction, takes_in_a_newborn_that_is_revoked_meanwhile) {
    test::stop_at_every_access<one_newborn>([](one_newborn& scene) { scene.objects.compact(); },
                                            [](one_newborn& scene) {
                                                scene.now = scene.objects.revoke(scene.old);
                                                EXPECT_TRUE(scene.objects.contains(scene.now));
                                            },
                                            [](one_newborn& scene) {
                                                EXPECT_EQ(scene.objects.at(scene.now), 7);
                                                EXPECT_FALSE(scene.objects.contains(scene.old));
                                                expect_consistent(scene.objects);
                                                EXPECT_EQ(scene.objects.handle_at(0), scene.now);
                                            });
}

TEST(stopped_compaction, buries_a_newborn_that_is_revoked_and_erased_meanwhile) {
    test::stop_at_every_access<one_newborn>(
        [](one_newborn& scene) { scene.objects.compact(); },
        [](one_newborn& scene) { EXPECT_TRUE(scene.objects.erase(scene.objects.revoke(scene.old))); },
        [](one_newborn& scene) {
            expect_consistent(scene.objects);
            EXPECT_EQ(scene.objects.size(), 0U);
        });
}

} // namespace
} // namespace handlepool::test

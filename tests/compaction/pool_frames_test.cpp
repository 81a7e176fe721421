// SPDX-License-Identifier: MIT

// What a pool knows of its frames: whether there is anything to do in one, and when objects came and went.

#include <handlepool/pool.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <support/steps/tiny_policy.hpp>
#include <tests/support/hostile_types.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <limits>
#include <string>
#include <thread>
#include <vector>

namespace handlepool::test {
namespace {

using namespace detail;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using ints = pool<int>;
using ids = std::vector<handle<int>>;

// ---- Idle or not

template <class Pool>
void expect_idle_after_compaction(Pool& pool) {
    EXPECT_FALSE(pool.idle());
    pool.compact();
    EXPECT_TRUE(pool.idle());
}

TEST(idle_pool, is_one_that_was_just_made) {
    ints pool({.name = "ints", .capacity = 10});
    EXPECT_TRUE(pool.idle());
    pool.compact();
    EXPECT_TRUE(pool.idle());
}

TEST(idle_pool, stays_idle_while_objects_are_only_looked_up) {
    ints pool({.name = "ints", .capacity = 10});
    const auto handle = pool.emplace(7);
    pool.compact();
    EXPECT_TRUE(pool.contains(handle));
    pool.at(handle) = 8;
    EXPECT_FALSE(pool.erase({}));
    {
        const auto guard = pool.access();
    }
    EXPECT_TRUE(pool.idle());
}

TEST(idle_pool, is_none_with_a_newborn) {
    ints pool({.name = "ints", .capacity = 10});
    pool.emplace(7);
    expect_idle_after_compaction(pool);
}

TEST(idle_pool, is_none_with_a_newborn_of_a_thread_that_ended) {
    ints pool({.name = "ints", .capacity = 10});
    std::jthread([&] { pool.emplace(7); }).join();
    expect_idle_after_compaction(pool);
}

TEST(idle_pool, is_none_after_an_erase_of_any_object) {
    ints pool({.name = "ints", .capacity = 10});
    const auto old = pool.emplace(7);
    pool.compact();
    pool.erase(old);
    expect_idle_after_compaction(pool);
    pool.erase(pool.emplace(8)); // before any compaction has seen it
    expect_idle_after_compaction(pool);
    pool.emplace(9);
    pool.compact();
    pool.clear();
    expect_idle_after_compaction(pool);
}

TEST(idle_pool, is_none_after_an_erase_that_only_a_sweep_will_find) {
    ints full({.name = "full queue", .capacity = 10, .removal_queue_size = 1});
    ids handles;
    full.emplace_n(2, std::back_inserter(handles), 7);
    full.compact();
    full.erase(handles);
    expect_idle_after_compaction(full);

    ints few({.name = "few threads", .capacity = 10, .max_threads = 1 + this_thread::index()});
    const auto handle = few.emplace(7);
    few.compact();
    std::jthread([&] { few.erase(handle); }).join(); // it has no shard
    ASSERT_EQ(few.size(), 0U);
    expect_idle_after_compaction(few);
    EXPECT_EQ(few.stats().sweeps, 1U);
}

TEST(idle_pool, a_reset_forgets_erases_of_threads_without_a_shard) {
    ints few({.name = "few threads", .capacity = 10, .max_threads = 1 + this_thread::index()});
    const auto handle = few.emplace(7);
    few.compact();
    std::jthread([&] { EXPECT_TRUE(few.erase(handle)); }).join();
    few.compact();
    few.reset();
    EXPECT_EQ(few.size(), 0U);
    few.emplace(8);
    few.compact();
    EXPECT_EQ(few.size(), 1U);
    EXPECT_TRUE(few.idle());
    EXPECT_EQ(few.stats().waiting_removals, 0U);
}

TEST(idle_pool, a_construction_that_throws_leaves_it_idle) {
    census counts;
    pool<throwing> pool({.name = "throwing", .capacity = 10});
    fuse now(0);
    EXPECT_THROW(pool.emplace(std::ref(now), std::ref(counts)), construction_failure);
    EXPECT_TRUE(pool.idle()) << "its place is the next one to be used";
}

TEST(idle_pool, is_none_with_a_place_that_a_failed_construction_left_behind) {
    pool<re_entrant> pool({.name = "nested", .capacity = 10});
    const re_entrant::callback nothing = [] {};
    const re_entrant::callback failing = [&] {
        // The inner object comes and goes, also for compaction: the place that is left is all there is to do.
        pool.erase(pool.emplace(nothing));
        pool.compact();
        EXPECT_TRUE(pool.idle());
        throw construction_failure();
    };
    EXPECT_THROW(pool.emplace(failing), construction_failure);
    EXPECT_EQ(pool.stats().created, pool.stats().destroyed);
    expect_idle_after_compaction(pool);
}

struct small_chunks : default_policy { // what emplace_n makes does not fit one
    static constexpr std::size_t nursery_chunk = 2;
};

TEST(idle_pool, is_one_after_an_emplace_n_that_failed) {
    census counts;
    pool<throwing, with_policy<small_chunks>> pool({.name = "throwing", .capacity = 100});
    fuse late(7);
    std::vector<handle<throwing>> handles;
    EXPECT_THROW(pool.emplace_n(10, std::back_inserter(handles), std::ref(late), std::ref(counts)),
                 construction_failure);
    EXPECT_EQ(pool.stats().created, 0U);
    EXPECT_TRUE(pool.idle());
}

TEST(idle_pool, is_none_with_a_newborn_that_the_last_compaction_came_too_early_for) {
    pool<re_entrant> pool({.name = "nested", .capacity = 10});
    pool.emplace([&] { pool.compact(); });
    expect_idle_after_compaction(pool);
}

TEST(idle_pool, is_one_after_a_reset) {
    ints pool({.name = "ints", .capacity = 10});
    pool.erase(pool.emplace(7));
    pool.emplace(8);
    pool.reset();
    EXPECT_TRUE(pool.idle());
    pool.emplace(9);
    expect_idle_after_compaction(pool);
}

TEST(idle_pool, is_one_after_a_reset_that_has_forgotten_the_need_for_a_sweep) {
    ints pool({.name = "ints", .capacity = 10, .removal_queue_size = 1});
    ids handles;
    pool.emplace_n(2, std::back_inserter(handles), 7);
    pool.compact();
    pool.erase(handles);
    pool.reset();
    EXPECT_TRUE(pool.idle());
    EXPECT_EQ(pool.compact().swept, 0U);
}

TEST(idle_pool, has_a_frame_counted_and_nothing_done) {
    ints pool({.name = "ints", .capacity = 10});
    pool.emplace(7);
    pool.compact();
    detail::pool_access::core_of(pool).skip_frame();
    detail::pool_access::core_of(pool).skip_frame();
    EXPECT_EQ(pool.stats().compactions, 3U);
    EXPECT_EQ(pool.items().size(), 1U);
}

// ---- When objects came and went

struct remembering : testing::Test {
    std::string said_of(handle<int> handle) const {
        const std::string all = pool.describe(handle);
        const std::string parts = "ints #" + std::to_string(handle.index()) + " generation " +
                                  std::to_string(handle.generation()) + ": ";
        EXPECT_TRUE(all.starts_with(parts)) << all;
        return all.substr(std::min(all.size(), parts.size()));
    }

    ints pool{{.name = "ints", .capacity = 100, .reuse_delay = 0, .remember_frames = true}};
};

TEST_F(remembering, an_object_is_described_by_its_age) {
    const auto handle = pool.emplace(7);
    EXPECT_EQ(said_of(handle), "alive, created in this frame");
    pool.compact();
    EXPECT_EQ(said_of(handle), "alive, created 1 frame ago");
    pool.compact();
    detail::pool_access::core_of(pool).skip_frame();
    EXPECT_EQ(said_of(handle), "alive, created 3 frames ago");
}

TEST_F(remembering, an_erased_object_is_described_by_when_that_was) {
    const auto handle = pool.emplace(7);
    pool.compact();
    pool.compact();
    pool.erase(handle);
    EXPECT_EQ(said_of(handle), "erased in this frame") << "no compaction has destroyed it yet";
    pool.compact();
    EXPECT_EQ(said_of(handle), "erased 1 frame ago");
    detail::pool_access::core_of(pool).skip_frame();
    EXPECT_EQ(said_of(handle), "erased 2 frames ago");
    EXPECT_THAT([&] { pool.at(handle); },
                testing::ThrowsMessage<stale_handle>(HasSubstr("erased 2 frames ago")));
}

TEST_F(remembering, a_newborn_may_end_before_its_first_compaction) {
    const auto handle = pool.emplace(7);
    pool.erase(handle);
    EXPECT_EQ(said_of(handle), "erased in this frame");
    pool.compact();
    EXPECT_EQ(said_of(handle), "erased 1 frame ago");
}

TEST_F(remembering, what_a_sweep_found_is_known_too) {
    ints swept({.name = "swept", .capacity = 10, .removal_queue_size = 1, .remember_frames = true});
    ids handles;
    swept.emplace_n(2, std::back_inserter(handles), 7);
    swept.compact();
    swept.erase(handles);
    ASSERT_EQ(swept.compact().swept, 1U);
    EXPECT_THAT(swept.describe(handles[1]), HasSubstr("erased 1 frame ago"));
}

TEST_F(remembering, the_slots_next_object_has_an_age_of_its_own) {
    ids old;
    pool.emplace_n(100, std::back_inserter(old), 7);
    pool.compact();
    pool.compact();
    pool.erase(old);
    pool.compact();
    handle<int> next = pool.emplace(8);
    while (next.index() != old.front().index()) {
        next = pool.emplace(8);
    }
    EXPECT_EQ(said_of(next), "alive, created in this frame");
    EXPECT_THAT(said_of(old.front()), HasSubstr("the slot has been used again"));
    pool.compact();
    EXPECT_EQ(said_of(next), "alive, created 1 frame ago");
    pool.erase(next);
    EXPECT_EQ(said_of(next), "erased in this frame");
}

TEST_F(remembering, after_a_reset_former_objects_are_forgotten_and_new_ones_remembered) {
    const auto old = pool.emplace(7);
    pool.compact();
    pool.reset();
    EXPECT_THAT(said_of(old), HasSubstr("forgotten by a reset"));
    const auto fresh = pool.emplace(8); // in the slot of the former
    EXPECT_EQ(said_of(fresh), "alive, created in this frame");
    pool.compact();
    EXPECT_EQ(said_of(fresh), "alive, created 1 frame ago");
}

TEST_F(remembering, handles_of_no_object_are_described) {
    EXPECT_EQ(pool.describe({}), "ints null");
    EXPECT_THAT(pool.describe(handle<int>::from_value(~0ULL)), HasSubstr("another pool"));
    const auto mine = pool.emplace(7);
    for (unsigned bit = 0; bit != 64; ++bit) {
        const auto forged = handle<int>::from_value(mine.value() ^ 1ULL << bit);
        EXPECT_THAT(pool.describe(forged), testing::Not(HasSubstr("alive"))) << "bit " << bit;
    }
}

TEST(oldest_objects, are_told_by_the_frames_of_their_creation) {
    ints pool({.name = "ints", .capacity = 100, .reuse_delay = 0, .remember_frames = true});
    ids handles;
    for (int frame = 0; frame != 6; ++frame) {
        handles.push_back(pool.emplace(frame));
        pool.compact();
    }
    pool.erase(handles[1]);
    pool.erase(handles[0]);
    pool.compact();
    const auto newborn = pool.emplace(7); // perhaps in one of their slots
    EXPECT_THAT(pool.oldest(3), ElementsAre(handles[2], handles[3], handles[4]));
    EXPECT_THAT(pool.oldest(std::numeric_limits<std::size_t>::max()),
                ElementsAre(handles[2], handles[3], handles[4], handles[5], newborn));
    EXPECT_THAT(pool.oldest(0), IsEmpty());
}

TEST(oldest_objects, are_told_by_generation_and_slot_without_a_memory) {
    ints pool({.name = "ints", .capacity = 10, .reuse_delay = 0});
    EXPECT_THAT(pool.oldest(3), IsEmpty());
    ids handles;
    pool.emplace_n(5, std::back_inserter(handles), 7);
    EXPECT_THAT(pool.oldest(2), ElementsAre(handles[0], handles[1]));
    pool.erase(handles[0]);
    EXPECT_THAT(pool.oldest(2), ElementsAre(handles[1], handles[2])) << "what was erased is not among them";
    pool.compact();
    // The first generation is 1, unless an earlier pool of the program had the same id.
    const std::string generation = std::to_string(handles[0].generation());
    EXPECT_EQ(pool.describe(handles[0]), "ints #0 generation " + generation + ": erased")
        << "when, is not known";
    EXPECT_EQ(pool.describe(handles[1]), "ints #1 generation " + generation + ": alive");
}

TEST(memory_of_frames, is_reserved_only_when_asked_for) {
    const ints without({.name = "without", .capacity = 100'000});
    const ints with({.name = "with", .capacity = 100'000, .remember_frames = true});
    EXPECT_GE(with.stats().bytes_reserved, without.stats().bytes_reserved + 16 * 400'000);
}

} // namespace
} // namespace handlepool::test

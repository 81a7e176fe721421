// SPDX-License-Identifier: MIT

// Compactions with a budget, which leave what is too much to the next ones.

#include <handlepool/pool.hpp>
#include <handlepool/raw_pool.hpp>
#include <handlepool/stable_pool.hpp>
#include <handlepool/thread_executor.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <support/steps/tiny_policy.hpp>
#include <tests/support/consistency.hpp>
#include <tests/support/hostile_types.hpp>
#include <tests/support/random.hpp>
#include <tests/support/tabulate.hpp>
#include <tests/support/vacated_place.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <latch>
#include <span>
#include <thread>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

using testing::ElementsAre;

/// What holds at every quiescent point, whatever waits.
template <class Pool>
void expect_nothing_lost(Pool& pool) {
    const pool_stats now = pool.stats();
    ASSERT_EQ(now.created, now.alive + now.waiting_removals + now.destroyed);
    ASSERT_EQ(now.dense + now.newborn, now.alive + now.waiting_removals);
    std::size_t visited = 0;
    for (auto& object : pool) {
        const auto handle = pool.handle_of(object);
        ASSERT_TRUE(!pool.contains(handle) || pool.find(handle) == &object);
        ++visited;
    }
    ASSERT_EQ(visited, now.dense);
}

template <class Pool>
class compact_some : public testing::Test {
protected:
    using handle_type = typename Pool::handle_type;
    using handles_type = std::vector<handle_type>;

    handles_type load(int count) {
        return tabulate(count, [&](int i) { return pool.emplace(people, static_cast<std::uint64_t>(i)); });
    }
    static std::size_t taken(const compaction_stats& done) { return done.removed + done.born; }

    census people;
    Pool pool{{.name = "people", .capacity = 10'000}};
};
using pools = testing::Types<pool<counted>, pool<counted, with_policy<support::tiny_policy<1>>>,
                             pool<counted, with_policy<support::tiny_policy<2>>>, stable_pool<counted>,
                             stable_pool<counted, with_policy<support::tiny_policy<1>>>,
                             stable_pool<counted, with_policy<support::tiny_policy<2>>>>;
TYPED_TEST_SUITE(compact_some, pools);

TYPED_TEST(compact_some, takes_as_much_as_its_budget_and_leaves_the_rest) {
    const auto handles = this->load(100);
    for (std::size_t frame = 1; frame != 11; ++frame) {
        const compaction_stats done = this->pool.compact_some(10);
        ASSERT_EQ(done.born, 10U);
        ASSERT_EQ(done.size, 10 * frame);
        ASSERT_EQ(done.waiting_newborns, 100 - 10 * frame);
        expect_nothing_lost(this->pool);
    }
    EXPECT_TRUE(this->pool.idle());
    this->pool.erase(std::span(handles));
    EXPECT_EQ(this->people.alive(), 100) << "what is erased lives until its compaction";
    for (std::size_t frame = 1; frame != 5; ++frame) {
        const compaction_stats done = this->pool.compact_some(30);
        ASSERT_EQ(done.removed, std::min<std::size_t>(30, 100 - 30 * (frame - 1)));
        ASSERT_EQ(done.waiting_removals, 100 - std::min<std::size_t>(100, 30 * frame));
        ASSERT_EQ(this->people.alive(), 100 - std::min(100, 30 * static_cast<int>(frame)));
        expect_nothing_lost(this->pool);
    }
    EXPECT_TRUE(this->pool.idle());
}

TYPED_TEST(compact_some, keeps_the_order_of_newborns_and_of_removals) {
    const auto handles = this->load(20);
    while (!this->pool.idle()) {
        this->pool.compact_some(3);
    }
    std::vector<std::uint64_t> values;
    for (const counted& each : this->pool) {
        values.push_back(each.value());
    }
    EXPECT_TRUE(std::ranges::is_sorted(values));
    EXPECT_EQ(values.size(), 20U);

    std::vector<std::uint64_t> ended;
    this->pool.on_destroy([&](auto, counted& each) { ended.push_back(each.value()); }).release();
    this->pool.erase(std::span(handles));
    while (!this->pool.idle()) {
        this->pool.compact_some(3);
    }
    EXPECT_EQ(ended, values);
}

TYPED_TEST(compact_some, a_budget_of_one_gets_on_with_both_kinds) {
    auto handles = this->load(100);
    this->pool.compact();
    for (int frame = 0; frame != 40; ++frame) {
        this->pool.erase(handles.back()); // so many come that neither kind ever ends
        handles.pop_back();
        handles.insert(handles.begin(), this->pool.emplace(this->people, 7U));
    }
    std::size_t removed = 0;
    std::size_t born = 0;
    for (int frame = 0; frame != 20; ++frame) {
        const compaction_stats done = this->pool.compact_some(1);
        ASSERT_LE(this->taken(done), 1U);
        removed += done.removed;
        born += done.born;
    }
    EXPECT_EQ(removed, 10U);
    EXPECT_EQ(born, 10U);
}

TYPED_TEST(compact_some, what_one_kind_leaves_the_other_gets) {
    const auto handles = this->load(100);
    this->pool.compact();
    this->load(100);
    this->pool.erase(std::span(handles).first(3));
    const compaction_stats first = this->pool.compact_some(50);
    EXPECT_EQ(first.removed, 3U);
    EXPECT_EQ(first.born, 47U);
    this->pool.erase(std::span(handles).subspan(3, 90));
    const compaction_stats second = this->pool.compact_some(50);
    EXPECT_EQ(second.removed, 25U);
    EXPECT_EQ(second.born, 25U);
}

TYPED_TEST(compact_some, no_thread_waits_behind_another) {
    const auto handles = this->load(5000);
    this->pool.compact();
    this->pool.erase(std::span(handles).first(4000));
    this->load(4000);
    std::size_t left = 0;
    std::thread([&] {
        this->pool.erase(std::span(handles).last(5));
        const auto few = this->load(5);
        left = static_cast<std::size_t>(this->people.alive());
        // Two frames for each shard, and then what they have is taken.
        std::vector<bool> ended(5);
        scoped_hook erased = this->pool.on_destroy([&](auto handle, counted&) {
            const auto found = std::ranges::find(handles.end() - 5, handles.end(), handle);
            if (found != handles.end()) {
                ended[static_cast<std::size_t>(found - (handles.end() - 5))] = true;
            }
        });
        std::size_t born = 0;
        scoped_hook taken_in = this->pool.on_birth(
            [&](auto handle, counted&) { born += std::ranges::count(few, handle) != 0 ? 1 : 0; });
        for (int frame = 0; frame != 4; ++frame) {
            this->pool.compact_some(200);
        }
        EXPECT_EQ(std::ranges::count(ended, true), 5);
        EXPECT_EQ(born, 5U);
        erased.disconnect();
        taken_in.disconnect();
    }).join();
    EXPECT_GT(left, 8000U);
}

TYPED_TEST(compact_some, without_a_budget_only_what_was_taken_goes) {
    const auto handles = this->load(10);
    this->pool.compact();
    this->load(10);
    this->pool.erase(std::span(handles).first(5));
    std::vector<std::uint64_t> sunk;
    EXPECT_TRUE(this->pool.extract(handles[7], [&](counted&& each) { sunk.push_back(each.value()); }));
    const compaction_stats done = this->pool.compact_some(0);
    EXPECT_EQ(done.born, 0U);
    EXPECT_EQ(done.removed, 1U);
    EXPECT_THAT(sunk, ElementsAre(7U));
    expect_nothing_lost(this->pool);
}

template <class Pool>
class compact_some_without_records : public compact_some<Pool> {
protected:
    // Of several erases in a frame only the first can leave a record.
    compact_some_without_records() {
        for (int i = 0; i != 20'000; ++i) { // more than a sweep looks at
            handles.push_back(small.emplace(this->people, static_cast<std::uint64_t>(i)));
        }
        small.compact();
    }
    void erase(std::size_t first, std::size_t count) {
        ASSERT_EQ(small.erase(std::span(handles).subspan(first, count)), count);
        erased += count;
    }
    void compact_some(std::size_t budget) {
        const compaction_stats done = small.compact_some(budget);
        ASSERT_LE(done.removed - done.swept, budget);
        ASSERT_LE(done.swept, budget);
        buried += done.removed;
        ASSERT_EQ(done.waiting_removals, erased - buried);
        expect_nothing_lost(small);
    }

    std::vector<typename Pool::handle_type> handles;
    std::size_t erased = 0;
    std::size_t buried = 0;
    Pool small{{.name = "small", .capacity = 20'000, .removal_queue_size = 1}};
};
TYPED_TEST_SUITE(compact_some_without_records, pools);

TYPED_TEST(compact_some_without_records, a_sweep_goes_on_from_frame_to_frame) {
    this->erase(10, 90);
    for (int frame = 0; frame != 12; ++frame) {
        this->compact_some(10);
        if (frame == 4) { // behind what it has looked at
            this->erase(0, 5);
        }
    }
    for (int frame = 0; frame != 1000 && !this->small.idle(); ++frame) {
        this->compact_some(10);
    }
    EXPECT_TRUE(this->small.idle());
    EXPECT_EQ(this->buried, 95U);
    EXPECT_EQ(this->people.alive(), 19'905);
    EXPECT_EQ(this->small.compact().removed, 0U);
    expect_consistent(this->small);
}

TYPED_TEST(compact_some_without_records, a_sweep_ends_though_each_frame_demands_another) {
    this->erase(19'995, 5);
    for (std::size_t frame = 0; frame != 50; ++frame) {
        this->erase(3 * frame, 3);
        this->compact_some(20);
    }
    EXPECT_EQ(std::ranges::count_if(this->small, [](const counted& each) { return each.value() >= 19'995; }),
              0);
    for (int frame = 0; frame != 100 && this->buried != this->erased; ++frame) {
        this->compact_some(20);
    }
    EXPECT_EQ(this->buried, this->erased);
    expect_consistent(this->small);
}

TYPED_TEST(compact_some, what_clear_has_left_takes_nothing_from_other_removals_and_newborns) {
    this->load(1000);
    this->pool.compact();
    this->pool.clear();
    EXPECT_EQ(this->pool.stats().waiting_removals, 1000U);
    for (std::size_t frame = 0; frame != 10; ++frame) {
        const auto young = this->load(100);
        this->pool.erase(std::span(young).last(50));
        const compaction_stats done = this->pool.compact_some(100);
        ASSERT_EQ(done.swept, 100U);
        ASSERT_EQ(done.removed, 150U);
        ASSERT_EQ(done.waiting_removals, 900 - 100 * frame);
        expect_nothing_lost(this->pool);
    }
    this->pool.compact();
    EXPECT_EQ(this->pool.size(), 500U);
    expect_consistent(this->pool);
}

TYPED_TEST(compact_some, what_clear_has_left_goes_with_an_executor_too) {
    thread_executor threads(2);
    for (const std::size_t count : {10U, 5000U}) {
        this->load(static_cast<int>(count));
        this->pool.compact(threads);
        this->load(static_cast<int>(count));
        this->pool.clear();
        EXPECT_EQ(this->pool.compact_some(count / 2, threads).swept, count / 2);
        const compaction_stats done = this->pool.compact(threads);
        EXPECT_EQ(done.swept, 2 * count - count / 2);
        EXPECT_EQ(this->people.alive(), 0);
        EXPECT_TRUE(this->pool.idle());
        expect_consistent(this->pool);
    }
}

TYPED_TEST(compact_some, one_after_clear_leaves_nothing_to_a_whole_compaction) {
    for (int i = 0; i != 3; ++i) {
        this->load(100);
        this->pool.compact();
        this->pool.clear();
        this->pool.compact_some(40);
        this->load(100);
        this->pool.clear(); // in slots that the sweep has passed, too
        EXPECT_EQ(this->pool.compact().size, 0U);
        EXPECT_EQ(this->people.alive(), 0);
        EXPECT_TRUE(this->pool.idle());
        expect_consistent(this->pool);
    }
}

TYPED_TEST(compact_some, a_budget_of_one_is_enough_for_each_kind) {
    this->load(100);
    this->pool.compact();
    this->pool.clear();
    std::size_t swept = 0;
    std::size_t others = 0;
    for (int frame = 0; frame != 110; ++frame) {
        const auto young = this->load(1);
        this->pool.erase(young[0]);
        const compaction_stats done = this->pool.compact_some(1);
        swept += done.swept;
        others += done.removed - done.swept + done.born;
    }
    EXPECT_GE(swept, 100U);
    EXPECT_GE(others, 50U) << "half of the budget is for places of the dead";
    EXPECT_EQ(this->pool.compact().size, 0U);
    expect_consistent(this->pool);
}

TYPED_TEST(compact_some, objects_that_are_taken_leave_the_budget_to_newborns) {
    const auto handles = this->load(100);
    this->pool.compact();
    for (const auto each : handles) {
        EXPECT_TRUE(this->pool.extract(each, [](counted&&) {}));
    }
    this->load(100);
    EXPECT_EQ(this->pool.compact_some(100).born, 100U);
}

TYPED_TEST(compact_some, with_an_executor_is_the_same) {
    random_source random;
    TypeParam other({.name = "other", .capacity = 10'000});
    std::vector<std::pair<typename TypeParam::handle_type, typename TypeParam::handle_type>> alive;
    thread_executor threads(2);
    for (int frame = 0; frame != 50; ++frame) {
        for (std::uint64_t i = random.below(300); i != 0; --i) {
            alive.emplace_back(this->pool.emplace(this->people, i), other.emplace(this->people, i));
        }
        for (std::uint64_t i = random.below(300); i != 0 && !alive.empty(); --i) {
            std::swap(alive[random.below(alive.size())], alive.back());
            this->pool.erase(alive.back().first);
            other.erase(alive.back().second);
            alive.pop_back();
        }
        const std::size_t budget = random.below(400);
        const compaction_stats one = this->pool.compact_some(budget);
        const compaction_stats two = other.compact_some(budget, threads);
        ASSERT_EQ(this->taken(one), this->taken(two));
        ASSERT_LE(one.removed + one.born, budget);
        ASSERT_TRUE(std::ranges::equal(this->pool, other, {}, &counted::value, &counted::value));
        expect_nothing_lost(this->pool);
        for (const auto& [mine, its] : alive) {
            ASSERT_EQ(this->pool.at(mine).value(), other.at(its).value());
        }
    }
    const std::size_t size = alive.size();
    EXPECT_EQ(this->pool.compact().size, size);
    EXPECT_EQ(other.compact().size, size);
    expect_consistent(this->pool);
    expect_consistent(other);
}

TYPED_TEST(compact_some, objects_that_wait_are_found_and_can_be_erased) {
    const auto handles = this->load(50);
    this->pool.compact_some(20);
    for (const auto handle : handles) {
        EXPECT_TRUE(this->pool.contains(handle));
    }
    this->pool.erase(std::span(handles).last(40));
    while (!this->pool.idle()) {
        this->pool.compact_some(7);
        expect_nothing_lost(this->pool);
    }
    EXPECT_EQ(this->pool.size(), 10U);
    EXPECT_EQ(this->people.alive(), 10);
}

TEST(compact_some_of_a_cleared_pool, is_finished_by_a_whole_compaction_that_begins_with_the_first_slot) {
    pool<int> pool({.name = "reused", .capacity = 10, .reuse_delay = 0});
    for (int i = 0; i != 4; ++i) {
        pool.emplace(i);
    }
    pool.compact();
    pool.clear();
    EXPECT_EQ(pool.compact_some(2).removed, 2U);
    for (std::uint64_t slot : {0U, 1U}) {
        ASSERT_EQ(pool.emplace(1).index(), slot) << "where the sweep has been";
    }
    pool.clear();
    EXPECT_EQ(pool.compact().removed, 4U);
    EXPECT_EQ(pool.stats().waiting_removals, 0U);
    EXPECT_TRUE(pool.idle());
}

TEST(compact_some_of_vacated_places, leaves_the_pool_idle_in_the_end) {
    for (const std::size_t budget : {1U, 3U, 1000U}) {
        pool<re_entrant> pool({.name = "nested", .capacity = 1000});
        const re_entrant::callback nothing = [] {};
        const re_entrant::callback failing = [&] {
            pool.emplace(nothing);
            throw construction_failure();
        };
        for (int i = 0; i != 70; ++i) {
            EXPECT_THROW(pool.emplace(failing), construction_failure);
        }
        for (int frames = 0; !pool.idle(); ++frames) {
            ASSERT_LT(frames, 300) << budget;
            pool.compact_some(budget);
        }
        EXPECT_EQ(pool.stats().dense, 70U);
    }
}

TEST(compact_some_of_vacated_places, counts_them) {
    pool<re_entrant> pool({.name = "failing", .capacity = 1000});
    vacate_last_place(pool);
    pool.compact_some(default_policy::nursery_chunk - 5);
    pool.compact_some(4);
    EXPECT_EQ(pool.stats().newborn, 0U);
    EXPECT_FALSE(pool.idle());
    pool.compact_some(1);
    EXPECT_TRUE(pool.idle());
}

TEST(compact_some_of_vacated_places, counts_them_where_an_executor_has_enough_to_do) {
    constexpr std::size_t before = 2 * default_policy::compaction_grain; // whole chunks
    thread_executor threads(2);
    pool<re_entrant> pool({.name = "failing", .capacity = 2 * before});
    const re_entrant::callback nothing = [] {};
    for (std::size_t i = 0; i != before; ++i) {
        pool.emplace(nothing);
    }
    vacate_last_place(pool);
    pool.compact_some(before + default_policy::nursery_chunk - 1, threads);
    EXPECT_EQ(pool.stats().newborn, 0U);
    EXPECT_FALSE(pool.idle());
    pool.compact_some(1, threads);
    EXPECT_TRUE(pool.idle());
}

TYPED_TEST(compact_some, what_comes_meanwhile_waits_whatever_the_budget) {
    bool first = true;
    const scoped_hook hook = this->pool.on_birth([&](auto, auto&) {
        if (first) {
            first = false;
            this->load(3);
        }
    });
    this->load(1);
    EXPECT_EQ(this->pool.compact_some(SIZE_MAX).waiting_newborns, 3U);
    first = true;
    EXPECT_EQ(this->pool.compact().waiting_newborns, 3U);
    EXPECT_EQ(this->pool.compact().waiting_newborns, 0U);
}

TEST(compact_some_raw, serves_raw_pools_too) {
    raw_pool<> pool({.name = "raw", .capacity = 100}, {.size = 8, .alignment = 8});
    for (int i = 0; i != 10; ++i) {
        pool.emplace();
    }
    EXPECT_EQ(pool.compact_some(4).waiting_newborns, 6U);
    EXPECT_EQ(pool.compact_some(100).waiting_newborns, 0U);
}

TYPED_TEST(compact_some, is_not_shared_with_shards_that_need_nothing) {
    std::latch made(8);
    std::latch end(1);
    std::vector<std::jthread> idle; // threads with shards that have room left
    for (int i = 0; i != 8; ++i) {
        idle.emplace_back([&] {
            this->load(1);
            made.count_down();
            end.wait();
        });
    }
    made.wait();
    this->pool.compact();
    this->load(1000);
    EXPECT_EQ(this->pool.compact_some(100).born, 100U);
    end.count_down();
}

/// A hundred groups, full of objects but for a hole in each, where the next objects come.
class compact_some_of_a_stable_pool : public testing::Test {
protected:
    compact_some_of_a_stable_pool() {
        std::vector<stable_pool<counted>::handle_type> handles;
        for (std::uint64_t i = 0; i != 6400; ++i) {
            handles.push_back(pool.emplace(people, i));
        }
        pool.compact();
        for (std::size_t i = 32; i < handles.size(); i += 64) {
            pool.erase(handles[i]);
        }
        pool.compact();
    }
    void emplace(int count) {
        for (int i = 0; i != count; ++i) {
            pool.emplace(people, std::uint64_t{1});
        }
    }

    census people;
    stable_pool<counted> pool{{.name = "people", .capacity = 10'000}};
};

TEST_F(compact_some_of_a_stable_pool, is_for_objects_not_for_the_places_between_them) {
    emplace(100);
    EXPECT_EQ(pool.compact_some(50).born, 50U);
    EXPECT_EQ(pool.compact_some(50).born, 50U);
}

TEST_F(compact_some_of_a_stable_pool, is_not_shared_with_the_places_between_the_objects_of_another_thread) {
    std::thread([&] { emplace(2); }).join();
    emplace(90);
    EXPECT_EQ(pool.compact_some(50).born, 50U) << "two of the other thread, which has no more";
    EXPECT_EQ(pool.compact_some(50).born, 42U);
}

} // namespace
} // namespace handlepool::test

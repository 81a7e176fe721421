// SPDX-License-Identifier: MIT

// Constructors that throw, in any number, depth and thread: the room that the pool guarantees stays whole.

#include <handlepool/pool.hpp>
#include <handlepool/stable_pool.hpp>

#include <gtest/gtest.h>
#include <support/steps/tiny_policy.hpp>
#include <tests/support/consistency.hpp>
#include <tests/support/hostile_types.hpp>
#include <tests/support/threads.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <latch>
#include <limits>
#include <set>
#include <thread>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

using namespace detail;

/// How many objects the pool still takes.
template <class Pool, class... Args>
std::size_t fill(Pool& pool, Args&... args) {
    std::size_t made = 0;
    while (pool.try_emplace(args...)) {
        ++made;
    }
    return made;
}

template <class Pool>
void expect_slots_add_up(const Pool& pool) {
    const pool_stats stats = pool.stats();
    EXPECT_EQ(stats.slots_in_service, stats.alive + stats.waiting_removals + stats.slots_free +
                                          stats.slots_claimed + stats.slots_retired);
}

template <class Pool>
void fail_to_emplace_n(Pool& pool, std::size_t count) {
    census people;
    fuse last(static_cast<std::int64_t>(count) - 1);
    std::vector<typename Pool::handle_type> handles;
    EXPECT_THROW(pool.emplace_n(count, std::back_inserter(handles), std::ref(last), std::ref(people)),
                 construction_failure);
    EXPECT_TRUE(handles.empty());
}

template <class Policy, class Placement>
struct pools {
    using policy = Policy;
    template <class T>
    using pool_of = pool<T, with_placement<Placement, with_policy<Policy>>>;
};

template <class Pools>
class throwing_constructors : public testing::Test {};
using all_pools = testing::Types<
    pools<default_policy, dense_placement>, pools<support::tiny_policy<1>, dense_placement>,
    pools<support::tiny_policy<2>, dense_placement>, pools<support::tiny_policy<4>, dense_placement>,
    pools<default_policy, stable_placement>, pools<support::tiny_policy<1>, stable_placement>,
    pools<support::tiny_policy<2>, stable_placement>, pools<support::tiny_policy<4>, stable_placement>>;
TYPED_TEST_SUITE(throwing_constructors, all_pools);

TYPED_TEST(throwing_constructors, emplace_n_whose_last_constructor_throws_leaves_room_for_all) {
    typename TypeParam::template pool_of<throwing> pool({.name = "throwing", .capacity = 1000});
    for (int round = 0; round != 5; ++round) {
        fail_to_emplace_n(pool, 1000);
        expect_slots_add_up(pool);
        EXPECT_EQ(pool.stats().alive, 0U);
    }
    census people;
    fuse never(std::numeric_limits<std::int64_t>::max());
    EXPECT_EQ(fill(pool, never, people), 1000U);
    expect_slots_add_up(pool);
    expect_consistent(pool);
    pool.clear();
    expect_consistent(pool);
}

TYPED_TEST(throwing_constructors, emplace_n_after_some_objects_leaves_room_for_the_rest) {
    typename TypeParam::template pool_of<throwing> pool({.name = "throwing", .capacity = 300});
    census people;
    fuse never(std::numeric_limits<std::int64_t>::max());
    for (int made = 0; made != 100; ++made) {
        pool.emplace(never, people);
    }
    fail_to_emplace_n(pool, 200);
    std::vector<handle<throwing>> handles;
    pool.emplace_n(150, std::back_inserter(handles), std::ref(never), std::ref(people));
    EXPECT_EQ(fill(pool, never, people), 50U);
    EXPECT_EQ(pool.size(), 300U);
    expect_consistent(pool);
    pool.clear();
    expect_consistent(pool);
}

TYPED_TEST(throwing_constructors, emplace_n_that_finds_no_room_leaves_what_there_was) {
    typename TypeParam::template pool_of<throwing> pool({.name = "throwing", .capacity = 300});
    census people;
    fuse never(std::numeric_limits<std::int64_t>::max());
    std::vector<handle<throwing>> handles;
    EXPECT_THROW(pool.emplace_n(301, std::back_inserter(handles), std::ref(never), std::ref(people)),
                 pool_exhausted);
    EXPECT_EQ(people.born(), 0);
    EXPECT_FALSE(pool.try_emplace_n(301, std::back_inserter(handles), std::ref(never), std::ref(people)));
    EXPECT_TRUE(handles.empty());
    EXPECT_TRUE(pool.try_emplace_n(300, std::back_inserter(handles), std::ref(never), std::ref(people)));
    EXPECT_EQ(handles.size(), 300U);
    pool.clear();
    pool.compact();
}

TYPED_TEST(throwing_constructors, living_threads_that_failed_keep_nothing_from_the_others) {
    typename TypeParam::template pool_of<throwing> pool(
        {.name = "throwing",
         .capacity = 1000,
         .max_threads = 16 + static_cast<std::size_t>(this_thread::index())});
    std::latch filled(1);
    std::vector<std::jthread> living;
    for (int thread = 0; thread != 15; ++thread) {
        std::latch failed(1); // one after the other: together they may well ask for too much
        living.emplace_back([&] {
            fail_to_emplace_n(pool, 65);
            fail_to_emplace_n(pool, 1000);
            failed.count_down();
            filled.wait();
        });
        failed.wait();
    }
    expect_slots_add_up(pool);
    census people;
    fuse never(std::numeric_limits<std::int64_t>::max());
    EXPECT_GE(fill(pool, never, people), 1000U);
    expect_slots_add_up(pool);
    filled.count_down();
    living.clear();
    expect_consistent(pool);
    pool.clear();
    expect_consistent(pool);
}

/// Throws when the object inside is made, and that inside of it likewise; only the innermost stays.
struct shells {
    shells() = default;
    template <class Pool>
    shells(Pool& pool, int depth) {
        if (depth == 1) {
            pool.emplace();
        } else {
            EXPECT_THROW(pool.emplace(pool, depth - 1), construction_failure);
        }
        throw construction_failure();
    }
};

TYPED_TEST(throwing_constructors, that_leave_an_object_behind_leave_room_for_the_rest) {
    for (const int depth : {1, 2, 3, 7}) {
        SCOPED_TRACE(depth);
        constexpr std::size_t capacity = 5000;
        typename TypeParam::template pool_of<shells> pool({.name = "shells",
                                                           .capacity = capacity,
                                                           .reuse_delay = 0,
                                                           .max_threads = 1 + this_thread::index()});
        // In the end there must be room for all that are made at the same time.
        const std::size_t rounds = capacity - static_cast<std::size_t>(depth);
        for (std::size_t round = 0; round != rounds; ++round) {
            ASSERT_THROW(pool.emplace(pool, depth), construction_failure) << round;
        }
        EXPECT_EQ(pool.size(), rounds);
        expect_slots_add_up(pool);
        EXPECT_EQ(fill(pool), static_cast<std::size_t>(depth));
        expect_consistent(pool);
        EXPECT_EQ(pool.size(), capacity);
        pool.clear();
        expect_consistent(pool);
    }
}

TYPED_TEST(throwing_constructors, of_living_threads_keep_no_position_that_others_need) {
    constexpr std::size_t capacity = 1000;
    constexpr std::size_t threads = 15;
    constexpr int depth = static_cast<int>(TypeParam::policy::nursery_chunk);
    typename TypeParam::template pool_of<shells> pool(
        {.name = "shells", .capacity = capacity, .reuse_delay = 0, .max_threads = 16 + this_thread::index()});
    std::latch filled(1);
    std::vector<std::jthread> living;
    for (std::size_t thread = 0; thread != threads; ++thread) {
        std::latch failed(1);
        living.emplace_back([&] {
            pool.erase(pool.emplace()); // a chunk that is half drained
            pool.compact();
            EXPECT_THROW(pool.emplace(pool, depth), construction_failure);
            EXPECT_THROW(pool.emplace(pool, depth), construction_failure);
            failed.count_down();
            filled.wait();
        });
        failed.wait();
    }
    EXPECT_EQ(pool.size(), 2 * threads);
    EXPECT_GE(fill(pool), capacity - 2 * threads);
    filled.count_down();
    living.clear();
    expect_consistent(pool);
    pool.clear();
    expect_consistent(pool);
}

TYPED_TEST(throwing_constructors, that_leave_an_object_behind_while_compactions_run) {
    typename TypeParam::template pool_of<shells> pool(
        {.name = "shells", .capacity = 200, .reuse_delay = 0, .max_threads = 8 + this_thread::index()});
    for (int round = 0; round != 20; ++round) {
        in_threads(4, [&pool](std::size_t thread) {
            if (thread == 3) {
                for (int i = 0; i != 20; ++i) {
                    pool.try_compact();
                }
                return;
            }
            for (int i = 0; i != 60; ++i) {
                EXPECT_THROW(pool.emplace(pool, 1 + i % 3), construction_failure);
            }
        });
        EXPECT_EQ(pool.size(), 180U);
        expect_slots_add_up(pool);
        expect_consistent(pool);
        std::set<std::uint64_t> handles;
        for (const auto& object : pool) {
            handles.insert(pool.handle_of(object).value());
        }
        EXPECT_EQ(handles.size(), pool.size());
        pool.clear();
        expect_consistent(pool);
    }
}

/// Constructors of a batch that create objects of their own, and the last of which throws or not.
struct parent {
    parent() = default;
    template <class Pool>
    parent(std::reference_wrapper<Pool> pool, int& left) {
        pool.get().emplace();
        if (--left == 0) {
            throw construction_failure();
        }
    }
};

TYPED_TEST(throwing_constructors, batches_whose_objects_create_others) {
    typename TypeParam::template pool_of<parent> pool(
        {.name = "parents", .capacity = 2000, .max_threads = 1 + this_thread::index()});
    for (const int failing : {1, 2, 63, 64, 65, 130}) {
        SCOPED_TRACE(failing);
        int left = failing;
        std::vector<handle<parent>> handles;
        EXPECT_THROW(pool.emplace_n(130, std::back_inserter(handles), std::ref(pool), std::ref(left)),
                     construction_failure);
        EXPECT_EQ(pool.size(), static_cast<std::size_t>(failing)); // what they created stays
        expect_slots_add_up(pool);
        left = -1;
        pool.emplace_n(130, std::back_inserter(handles), std::ref(pool), std::ref(left));
        EXPECT_EQ(pool.size(), static_cast<std::size_t>(failing) + 260);
        EXPECT_EQ(fill(pool), 2000U - static_cast<std::size_t>(failing) - 260);
        expect_consistent(pool);
        EXPECT_EQ(pool.size(), 2000U);
        pool.clear();
        expect_consistent(pool);
    }
}

TYPED_TEST(throwing_constructors, batches_of_many_threads_beside_compactions_lose_nothing) {
    typename TypeParam::template pool_of<throwing> pool(
        {.name = "throwing", .capacity = 3000, .max_threads = 8 + this_thread::index()});
    census people;
    std::atomic<std::size_t> made = 0;
    in_threads(4, [&](std::size_t thread) {
        if (thread == 3) {
            for (int i = 0; i != 100; ++i) {
                pool.try_compact();
            }
            return;
        }
        for (std::size_t round = 0; round != 30; ++round) {
            const std::size_t count = 1 + (round * 37 + thread * 11) % 150;
            std::vector<handle<throwing>> handles;
            fuse failing(round % 2 == 0 ? static_cast<std::int64_t>(count) / 2 : 1000);
            try {
                pool.emplace_n(count, std::back_inserter(handles), std::ref(failing), std::ref(people));
            } catch (const construction_failure&) {
                continue;
            } catch (const pool_exhausted&) {
                continue;
            }
            EXPECT_EQ(pool.erase(handles), count);
            made += count;
        }
    });
    expect_consistent(pool);
    EXPECT_GT(made, 0U);
    EXPECT_EQ(pool.stats().created, made);
}

/// The first of a batch makes a batch of one in the same pool, and throws or not.
struct nesting_batch {
    nesting_batch() = default;
    template <class Pool>
    nesting_batch(std::reference_wrapper<Pool> pool, bool throws) {
        if (std::exchange(first, false)) {
            handle<nesting_batch> inner;
            pool.get().emplace_n(1, &inner);
            if (throws) {
                throw construction_failure();
            }
        }
    }
    inline static bool first = true;
};

TYPED_TEST(throwing_constructors, batches_within_constructors_leave_room_for_the_rest) {
    for (const bool throws : {true, false}) {
        for (const std::size_t size : {std::size_t{1}, std::size_t{64}}) {
            SCOPED_TRACE(size);
            constexpr std::size_t capacity = 3000;
            typename TypeParam::template pool_of<nesting_batch> pool(
                {.name = "nesting",
                 .capacity = capacity,
                 .reuse_delay = 0,
                 .max_threads = 1 + this_thread::index()});
            std::vector<handle<nesting_batch>> handles;
            const std::size_t each = throws ? 1 : size + 1;
            std::size_t alive = 0;
            for (; alive + size + 1 <= capacity; alive += each) {
                nesting_batch::first = true;
                bool thrown = false;
                try {
                    pool.emplace_n(size, std::back_inserter(handles), std::ref(pool), throws);
                } catch (const construction_failure&) {
                    thrown = true;
                }
                ASSERT_EQ(thrown, throws) << alive;
            }
            EXPECT_EQ(pool.size(), alive);
            EXPECT_EQ(fill(pool), capacity - alive);
            expect_consistent(pool);
        }
    }
}

// Used to be exhausted at 56,320 objects, and three deep at 18,773.
TEST(throwing_constructor, that_emplaces_and_throws_does_not_use_up_the_nursery) {
    for (const int depth : {1, 3}) {
        constexpr std::size_t capacity = 10'000;
        pool<shells> pool({.name = "shells", .capacity = capacity, .max_threads = 8});
        for (std::size_t round = 0; round != capacity - 3; ++round) {
            ASSERT_THROW(pool.emplace(pool, depth), construction_failure) << round;
        }
        EXPECT_EQ(pool.size(), capacity - 3);
    }
}

} // namespace
} // namespace handlepool::test

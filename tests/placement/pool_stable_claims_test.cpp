// SPDX-License-Identifier: MIT

// How shards of pools whose objects never move claim the groups in which they create.

#include <handlepool/policy.hpp>
#include <handlepool/stable_pool.hpp>

#include <gtest/gtest.h>
#include <support/steps/tiny_policy.hpp>
#include <support/threads/thread_team.hpp>
#include <tests/support/consistency.hpp>
#include <tests/support/threads.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <set>
#include <stdexcept>
#include <vector>

namespace handlepool::test {
namespace {

constexpr std::size_t group_size = default_policy::nursery_chunk;

/// std::atomic that counts what the thread exchanges with others.
template <class T>
class counted_atomic : public std::atomic<T> {
public:
    using std::atomic<T>::atomic;

    T fetch_add(T value, std::memory_order order) noexcept {
        ++exchanges;
        return std::atomic<T>::fetch_add(value, order);
    }
    template <class... Orders>
    bool compare_exchange_weak(T& expected, T value, Orders... orders) noexcept {
        ++exchanges;
        return std::atomic<T>::compare_exchange_weak(expected, value, orders...);
    }

    inline static thread_local std::size_t exchanges = 0;
};

struct counting_policy : default_policy {
    template <class T>
    using atomic = counted_atomic<T>;
};

/// A pool in which the first `holes` places of each group are free, and the others are taken.
template <class Pool>
class full_groups {
public:
    using handle_type = typename Pool::handle_type;

    full_groups(std::size_t groups, std::size_t holes, std::size_t capacity)
        : pool({.name = "full", .capacity = capacity, .reuse_delay = 0}) {
        std::vector<handle_type> handles;
        // And a group that the shard keeps.
        pool.emplace_n((groups + 1) * group_size, std::back_inserter(handles), std::uint64_t{1});
        first = pool.find(handles[0]);
        pool.compact();
        for (std::size_t i = 0; i != groups * group_size; ++i) {
            if (i % group_size < holes) {
                EXPECT_TRUE(pool.erase(handles[i]));
            }
        }
        pool.compact();
    }

    std::size_t create() { return place_of(pool.emplace(std::uint64_t{2})); }
    std::size_t place_of(handle_type handle) { return static_cast<std::size_t>(pool.find(handle) - first); }

    Pool pool;
    const std::uint64_t* first = nullptr;
};

using numbers = full_groups<stable_pool<std::uint64_t>>;

/// Exchanges for each object, of 256 that are created.
double exchanges_of_a_create(std::size_t holes) {
    constexpr std::size_t created = 256;
    full_groups<stable_pool<std::uint64_t, with_policy<counting_policy>>> groups(1000, holes, 100'000);
    for (int warm = 0; warm != 8; ++warm) {
        groups.create();
    }
    const auto exchanges = [] {
        return counted_atomic<std::uint64_t>::exchanges + counted_atomic<std::uint32_t>::exchanges;
    };
    const std::size_t before = exchanges();
    for (std::size_t i = 0; i != created; ++i) {
        groups.create();
    }
    return static_cast<double>(exchanges() - before) / created;
}

TEST(pool_stable_claims_test, where_few_places_are_free_several_groups_come_with_one_exchange) {
    // A claim is two exchanges, and each 64 slots are claimed by some, too.
    EXPECT_LE(exchanges_of_a_create(1), 0.6);
    EXPECT_LE(exchanges_of_a_create(2), 0.4);
    EXPECT_LE(exchanges_of_a_create(group_size), 0.1);
}

TEST(pool_stable_claims_test, groups_with_many_places_are_claimed_one_by_one) {
    numbers groups(100, group_size, 50'000);
    for (std::size_t i = 0; i != group_size + 1; ++i) {
        EXPECT_EQ(groups.create(), i);
    }
    in_threads(1, [&](std::size_t) {
        EXPECT_EQ(groups.create(), 2 * group_size) << "the next group is another thread's";
    });
}

TEST(pool_stable_claims_test, holes_are_filled_from_the_front) {
    for (const std::size_t holes : {1U, 2U, 3U, 10U}) {
        numbers groups(300, holes, 50'000);
        for (std::size_t i = 0; i != 300 * holes; ++i) {
            ASSERT_EQ(groups.create(), i / holes * group_size + i % holes);
        }
    }
}

struct calls_when_made {
    explicit calls_when_made(const std::function<void()>& call) { call(); }
};

// The outer object may have the last place of a group, and the inner one the first of the next.
TEST(pool_stable_claims_test, nested_objects_that_all_fail_leave_their_places) {
    for (std::size_t before = 0; before != 17; ++before) {
        pool<calls_when_made, with_placement<stable_placement, with_policy<support::tiny_policy<8>>>> objects(
            {.name = "objects", .capacity = 100});
        const auto nothing = [] {};
        const auto fail = [] { throw std::runtime_error("made to fail"); };
        const auto fail_twice = [&] {
            EXPECT_THROW(objects.emplace(fail), std::runtime_error);
            fail();
        };
        for (std::size_t i = 0; i != before; ++i) {
            objects.emplace(nothing);
        }
        EXPECT_THROW(objects.emplace(fail_twice), std::runtime_error);
        for (std::size_t i = before; i != 100; ++i) {
            objects.emplace(nothing);
        }
        EXPECT_EQ(objects.compact().born, 100U) << "failed after " << before;
        expect_consistent(objects);
    }
}

TEST(pool_stable_claims_test, a_batch_fills_what_its_thread_holds_first) {
    numbers groups(100, 1, 50'000);
    std::size_t next = 0;
    for (; next != 7; ++next) {
        EXPECT_EQ(groups.create(), next * group_size);
    }
    std::vector<numbers::handle_type> batch;
    groups.pool.emplace_n(20, std::back_inserter(batch), std::uint64_t{3});
    for (const auto each : batch) {
        EXPECT_EQ(groups.place_of(each), next++ * group_size);
    }
    for (; next != 100; ++next) {
        EXPECT_EQ(groups.create(), next * group_size);
    }
    expect_consistent(groups.pool);
}

TEST(pool_stable_claims_test, what_an_ended_thread_held_is_the_next_ones) {
    numbers groups(100, 1, 50'000);
    std::set<std::size_t> places;
    for (std::size_t created : {2U, 98U}) {
        in_threads(1, [&](std::size_t) {
            for (std::size_t i = 0; i != created; ++i) {
                places.insert(groups.create());
            }
        });
    }
    EXPECT_EQ(places.size(), 100U);
    EXPECT_EQ(*places.rbegin(), 99 * group_size) << "no other group is begun";
}

TEST(pool_stable_claims_test, reset_forgets_what_threads_hold) {
    numbers groups(100, 1, 50'000);
    for (int i = 0; i != 3; ++i) {
        groups.create();
    }
    groups.pool.reset();
    std::set<const std::uint64_t*> places;
    for (std::uint64_t i = 0; i != 1000; ++i) {
        places.insert(groups.pool.find(groups.pool.emplace(i)));
    }
    EXPECT_EQ(places.size(), 1000U);
    expect_consistent(groups.pool);
}

TEST(pool_stable_claims_test, what_ends_in_groups_that_are_held_is_offered_when_their_shard_has_left_them) {
    numbers groups(100, 1, 50'000);
    groups.create(); // the shard will claim several
    groups.create(); // and does
    // All of the groups that may be held; the shard still has one place of each.
    std::vector<numbers::handle_type> victims;
    for (const auto& object : groups.pool) {
        const auto place = static_cast<std::size_t>(&object - groups.first);
        if (place >= 2 * group_size && place < 8 * group_size) {
            victims.push_back(groups.pool.handle_of(object));
        }
    }
    EXPECT_EQ(victims.size(), 6 * (group_size - 1));
    for (const auto victim : victims) {
        EXPECT_TRUE(groups.pool.erase(victim));
    }
    groups.pool.compact();
    std::set<std::size_t> places;
    const auto create_to_the_end = [&] {
        while (true) {
            const std::size_t place = groups.create();
            if (place >= 99 * group_size) {
                break;
            }
            EXPECT_TRUE(places.insert(place).second);
        }
    };
    create_to_the_end();
    groups.pool.compact();
    for (int i = 0; places.size() != 97 + victims.size() && i != 10'000; ++i) {
        places.insert(groups.create());
    }
    EXPECT_EQ(places.size(), 97 + victims.size());
    expect_consistent(groups.pool);
}

// The shards together could hold more groups in advance than there are.
TEST(pool_stable_claims_test, what_idle_threads_hold_leaves_room_for_all_objects) {
    constexpr std::size_t capacity = 512;
    constexpr std::size_t threads = 31;
    stable_pool<std::uint64_t> pool(
        {.name = "shared", .capacity = capacity, .reuse_delay = 0, .max_threads = threads + 1});
    const std::uint64_t* const first = pool.find(pool.emplace(std::uint64_t{0}));
    support::thread_team team(threads); // all of which live until the end
    for (std::size_t turn = 0; turn != threads; ++turn) {
        std::vector<handle<std::uint64_t>> handles;
        pool.emplace_n(capacity - pool.size(), std::back_inserter(handles), std::uint64_t{1});
        ASSERT_EQ(pool.size(), capacity);
        pool.compact();
        std::set<std::size_t> holed; // a hole in each group
        for (const auto each : handles) {
            if (holed.insert(static_cast<std::size_t>(pool.find(each) - first) / group_size).second) {
                EXPECT_TRUE(pool.erase(each));
            }
        }
        pool.compact();
        team.run([&](std::size_t thread) {
            if (thread == turn) {
                pool.emplace(std::uint64_t{2}); // its first claim looks for few places,
                pool.emplace(std::uint64_t{3}); // and its second takes all the groups that it may hold
            }
        });
        pool.clear();
        pool.compact();
    }
    expect_consistent(pool);
}

} // namespace
} // namespace handlepool::test

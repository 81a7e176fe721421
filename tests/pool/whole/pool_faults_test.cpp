// SPDX-License-Identifier: MIT

// What a pool must survive, a test or more for each kind of fault.

#include <handlepool/pool.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <support/steps/tiny_policy.hpp>
#include <tests/support/consistency.hpp>
#include <tests/support/hostile_types.hpp>
#include <tests/support/threads.hpp>

#include <atomic>
#include <functional>
#include <limits>
#include <optional>
#include <thread>
#include <vector>

namespace handlepool::test {
namespace {

using namespace detail;
using testing::HasSubstr;
using testing::ThrowsMessage;
using numbers = pool<std::uint64_t>;

TEST(throwing_constructor, leaves_nothing_behind) {
    census counts;
    pool<throwing> pool({.name = "throwing", .capacity = 10, .reuse_delay = 0});
    for (int round = 0; round < 1000; ++round) { // far more failures than the nursery has positions
        fuse now(0);
        EXPECT_THROW(pool.emplace(std::ref(now), std::ref(counts)), construction_failure);
    }
    EXPECT_EQ(pool.size(), 0U);
    EXPECT_EQ(pool.stats().newborn, 0U);
    EXPECT_EQ(counts.alive(), 0);
    fuse never(std::numeric_limits<std::int64_t>::max());
    for (int i = 0; i < 10; ++i) {
        pool.emplace(std::ref(never), std::ref(counts));
    }
    EXPECT_FALSE(pool.try_emplace(std::ref(never), std::ref(counts))) << "the slots came back, and not twice";
    expect_consistent(pool);
    EXPECT_EQ(counts.alive(), 10);
}

template <std::size_t Batch>
void expect_nested_throw_survived() {
    using pool_type = pool<re_entrant, with_policy<support::tiny_policy<Batch>>>;
    pool_type pool({.name = "nested", .capacity = 100, .reuse_delay = 0});
    std::vector<typename pool_type::handle_type> inner;
    for (int round = 0; round < 20; ++round) {
        // Objects three deep; the outer two throw when the innermost has been made.
        const re_entrant::callback innermost = [] {};
        const re_entrant::callback middle = [&] {
            inner.push_back(pool.emplace(innermost));
            throw construction_failure();
        };
        const re_entrant::callback outer = [&] {
            EXPECT_THROW(pool.emplace(middle), construction_failure);
            throw construction_failure();
        };
        EXPECT_THROW(pool.emplace(outer), construction_failure);
        expect_consistent(pool);
        EXPECT_EQ(pool.size(), inner.size());
    }
    for (const auto handle : inner) {
        EXPECT_TRUE(pool.contains(handle));
    }
    pool.clear();
    expect_consistent(pool);
    std::size_t room = 0;
    while (pool.try_emplace(re_entrant::callback{})) {
        ++room;
    }
    EXPECT_EQ(room, 100U);
}

TEST(throwing_constructor, may_be_nested) {
    expect_nested_throw_survived<1>();
    expect_nested_throw_survived<2>();
    expect_nested_throw_survived<64>();
}

TEST(re_entrant_constructor, may_create_look_up_and_erase) {
    pool<re_entrant> pool({.name = "nested", .capacity = 1000});
    const re_entrant::callback nothing;
    const auto victim = pool.emplace(nothing);
    handle<re_entrant> inner;
    const auto outer = pool.emplace([&] {
        inner = pool.emplace(nothing);
        EXPECT_TRUE(pool.contains(inner));
        EXPECT_NE(pool.find(inner), nullptr);
        EXPECT_TRUE(pool.erase(victim));
    });
    EXPECT_TRUE(pool.contains(outer));
    EXPECT_TRUE(pool.contains(inner));
    EXPECT_FALSE(pool.contains(victim));
    expect_consistent(pool);
    EXPECT_EQ(pool.size(), 2U);
}

TEST(re_entrant_constructor, half_built_object_is_not_moved_by_a_compaction) {
    pool<re_entrant> pool({.name = "nested", .capacity = 1000});
    const re_entrant::callback nothing;
    handle<re_entrant> inner;
    const auto outer = pool.emplace([&] {
        inner = pool.emplace(nothing);
        EXPECT_EQ(pool.compact().born, 0U) << "the one before it in the nursery is not complete";
        EXPECT_TRUE(pool.contains(inner));
        EXPECT_TRUE(pool.erase(inner));
        EXPECT_EQ(pool.compact().removed, 1U) << "destroyed where it is";
    });
    EXPECT_TRUE(pool.contains(outer));
    EXPECT_EQ(pool.compact().born, 1U);
    expect_consistent(pool);
}

TEST(re_entrant_destructor, may_create_look_up_and_erase) {
    pool<re_entrant> pool({.name = "nested", .capacity = 1000});
    const re_entrant::callback nothing;
    const auto other = pool.emplace(nothing);
    const auto witness = pool.emplace(nothing);
    handle<re_entrant> made;
    const auto dying = pool.emplace(nothing, [&] {
        made = pool.emplace(nothing);
        EXPECT_TRUE(pool.erase(other));
        EXPECT_NE(pool.find(witness), nullptr);
        EXPECT_EQ(pool.find(other), nullptr);
    });
    pool.compact();
    EXPECT_TRUE(pool.erase(dying));
    pool.compact();
    EXPECT_TRUE(pool.contains(made));
    EXPECT_TRUE(pool.contains(witness));
    EXPECT_FALSE(pool.contains(other));
    expect_consistent(pool);
    EXPECT_EQ(pool.size(), 2U);
}

TEST(re_entrant_destructor, may_create_and_erase_while_the_pool_is_destroyed_or_reset) {
    const re_entrant::callback nothing;
    for (const bool reset : {false, true}) {
        int destroyed = 0;
        {
            pool<re_entrant> pool({.name = "nested", .capacity = 10});
            pool.emplace(nothing, [&] {
                ++destroyed;
                pool.erase(pool.emplace(nothing, [&] { ++destroyed; }));
            });
            pool.compact();
            if (reset) {
                pool.reset();
                EXPECT_EQ(destroyed, 2);
                EXPECT_EQ(pool.stats().waiting_removals, 0U);
            }
        }
        EXPECT_EQ(destroyed, 2) << (reset ? "reset" : "destroyed");
    }
}

TEST(re_entrant_destructor, may_erase_the_rest_while_the_pool_is_destroyed_or_reset) {
    int destroyed = 0;
    const re_entrant::callback nothing;
    for (const bool reset : {false, true}) {
        std::vector<handle<re_entrant>> handles; // outlives the pool, whose destructor reads it
        pool<re_entrant> pool({.name = "nested", .capacity = 1000});
        for (int i = 0; i < 100; ++i) {
            handles.push_back(pool.emplace(nothing, [&] {
                ++destroyed;
                pool.erase(handles);
                EXPECT_EQ(pool.find(handles[5]), nullptr);
            }));
        }
        if (reset) {
            pool.reset();
            EXPECT_EQ(destroyed, 200);
            EXPECT_TRUE(pool.empty());
        }
    }
    EXPECT_EQ(destroyed, 200);
}

TEST(compaction_conflict, compaction_from_a_destructor_is_refused) {
    pool<re_entrant> pool({.name = "nested", .capacity = 10});
    bool refused = false;
    const auto dying = pool.emplace(re_entrant::callback{}, [&] {
        EXPECT_THAT([&] { pool.compact(); },
                    ThrowsMessage<compaction_conflict>(HasSubstr("while one is running")));
        EXPECT_THROW(pool.reset(), compaction_conflict);
        EXPECT_THROW(pool.shrink_to_fit(), compaction_conflict);
        EXPECT_FALSE(pool.try_compact());
        EXPECT_THROW(static_cast<void>(pool.access()), compaction_conflict);
        refused = true;
    });
    pool.erase(dying);
    EXPECT_EQ(pool.compact().removed, 1U);
    EXPECT_TRUE(refused);
    expect_consistent(pool);
}

TEST(compaction_conflict, compaction_from_a_destructor_is_refused_while_the_pool_is_destroyed) {
    bool refused = false;
    {
        pool<re_entrant> pool({.name = "ending", .capacity = 10});
        pool.emplace(re_entrant::callback{}, [&] {
            EXPECT_THROW(pool.compact(), compaction_conflict);
            EXPECT_THROW(static_cast<void>(pool.access()), compaction_conflict);
            refused = true;
        });
    }
    EXPECT_TRUE(refused);
}

TEST(compaction_conflict, second_compaction_at_once_is_refused) {
    pool<re_entrant> pool({.name = "twice", .capacity = 10});
    bool refused = false;
    const auto dying = pool.emplace(re_entrant::callback{}, [&] {
        std::jthread([&] {
            EXPECT_THROW(pool.compact(), compaction_conflict);
            EXPECT_FALSE(pool.try_compact());
            refused = true;
        }).join();
    });
    pool.erase(dying);
    pool.compact();
    EXPECT_TRUE(refused);
    expect_consistent(pool);
}

TEST(erase_races_find, object_or_nothing_never_another) {
    struct twins {
        explicit twins(std::uint64_t value) : first(value), second(~value) {}
        std::uint64_t first;
        std::uint64_t second;
    };
    constexpr std::size_t count = 512;
    pool<twins> pool({.name = "twins", .capacity = 4 * count, .reuse_delay = 0});
    std::vector<handle<twins>> handles(count);
    for (int frame = 0; frame < 60; ++frame) {
        for (std::size_t i = 0; i < count; ++i) {
            handles[i] = pool.emplace(i);
        }
        std::atomic<int> wrong = 0;
        in_threads(3, [&](std::size_t thread) {
            for (std::size_t i = 0; i < count; ++i) {
                if (thread == 0) {
                    pool.erase(handles[i]);
                    pool.erase(pool.emplace(1'000'000 + i));
                } else if (const twins* const found = pool.find(handles[(i * thread) % count])) {
                    wrong += found->first == (i * thread) % count && found->second == ~found->first ? 0 : 1;
                }
            }
        });
        EXPECT_EQ(wrong, 0);
        pool.compact();
    }
}

TEST(compaction_overlap, operations_work_while_compactions_run_back_to_back) {
    census counts;
    pool<counted> pool({.name = "overlap", .capacity = 5000});
    std::atomic<std::size_t> wrong = 0;
    std::vector<std::vector<handle<counted>>> kept(3);
    const auto work = [&](std::size_t thread) {
        std::vector<handle<counted>>& mine = kept[thread];
        for (std::size_t i = 0; i < 8000; ++i) {
            handle<counted> created;
            while (!(created = pool.try_emplace(counts, i))) {
                std::this_thread::yield(); // until a compaction has freed places
            }
            mine.push_back(created);
            wrong += pool.contains(mine.back()) ? 0 : 1;
            if (i % 64 == 0) {
                const auto guard = pool.access();
                const counted* const found = pool.find(mine.back());
                wrong += found != nullptr && found->value() == i ? 0 : 1;
            }
            if (mine.size() > 100) {
                wrong += pool.erase(mine[i % 100]) ? 0 : 1;
                wrong += pool.contains(mine[i % 100]) ? 1 : 0;
                mine[i % 100] = mine.back();
                mine.pop_back();
            }
        }
    };
    in_threads(3, work, [&] { pool.compact(); });
    EXPECT_EQ(wrong, 0U);
    EXPECT_EQ(pool.size(), 300U);
    expect_consistent(pool);
    EXPECT_EQ(counts.alive(), 300);
}

TEST(removal_queue_overflow, loses_nothing_and_buries_nothing_twice) {
    census counts;
    pool<counted, with_policy<support::tiny_policy<2>>> pool(
        {.name = "overflow", .capacity = 20'000, .reuse_delay = 0, .removal_queue_size = 2});
    using handle_type = decltype(pool)::handle_type;
    for (int round = 0; round < 5; ++round) {
        std::vector<handle_type> handles;
        pool.emplace_n(10'000, std::back_inserter(handles), std::ref(counts));
        if (round % 2 == 0) {
            pool.compact(); // so that they are erased in the dense store, else in the nursery
        }
        std::atomic<std::size_t> wins = 0;
        in_threads(3, [&](std::size_t thread) {
            if (thread == 2) {
                for (int i = 0; i < 20; ++i) {
                    pool.compact(); // records come late, behind the sweep that has found their objects
                }
            } else {
                wins += pool.erase(handles);
            }
        });
        EXPECT_EQ(wins, 10'000U);
        expect_consistent(pool);
        EXPECT_EQ(pool.size(), 0U);
        EXPECT_EQ(counts.alive(), 0);
    }
    EXPECT_GT(pool.stats().sweeps, 0U);
}

TEST(threads, that_come_and_go_leave_no_growth_behind) {
    numbers pool({.name = "passing", .capacity = 10'000, .reuse_delay = 0});
    std::size_t shards = 0;
    for (int i = 0; i < 2000; ++i) {
        std::jthread([&] {
            for (std::uint64_t object = 0; object < 3; ++object) { // leaves claimed slots behind
                pool.erase(pool.emplace(object));
            }
        }).join();
        if (i % 100 == 0) {
            pool.compact();
        }
        if (i == 10) {
            shards = pool.stats().shards;
        }
    }
    EXPECT_EQ(pool.stats().shards, shards);
    EXPECT_LT(pool.stats().slots_in_service, 1000U);
    expect_consistent(pool);
}

TEST(threads, may_outlive_the_pool) {
    std::optional<numbers> pool;
    std::atomic<int> round = 0;
    std::atomic<int> done = 0;
    std::jthread survivor([&] {
        for (int i = 1; i <= 20; ++i) {
            while (round != i) {
                std::this_thread::yield();
            }
            const auto handle = pool->emplace(7U);
            EXPECT_EQ(pool->at(handle), 7U);
            EXPECT_EQ(pool->size(), 1U);
            done = i;
        }
    });
    for (int i = 1; i <= 20; ++i) {
        pool.emplace(pool_options{.name = "short", .capacity = 10});
        round = i;
        while (done != i) {
            std::this_thread::yield();
        }
        pool.reset();
    }
}

TEST(threads, beyond_the_limit_may_erase_and_are_told_when_they_create) {
    numbers pool({.name = "few", .capacity = 100, .max_threads = 1 + this_thread::index()});
    const auto handle = pool.emplace(1U);
    pool.compact();
    std::jthread([&] {
        ASSERT_GE(this_thread::index(), pool.stats().shards);
        EXPECT_THAT([&] { pool.emplace(2U); },
                    ThrowsMessage<too_many_threads>(HasSubstr("pool 'few': more than max_threads")));
        EXPECT_TRUE(pool.contains(handle));
        EXPECT_TRUE(pool.erase(handle));
        EXPECT_FALSE(pool.erase(handle));
    }).join();
    EXPECT_EQ(pool.size(), 0U);
    expect_consistent(pool);
}

// Arrays whose reservation fails at the n-th try.
struct failing_policy : default_policy {
    static inline int passes = 0;

    template <class T>
    class array : public virtual_array<T> {
    public:
        array(const allocation_label& what_for, std::size_t size, std::size_t expected,
              std::size_t alignment = alignof(T))
            : virtual_array<T>((burn(what_for), what_for), size, expected, alignment) {}

    private:
        static void burn(const allocation_label& what_for) {
            if (passes-- == 0) {
                throw reservation_failed(what_for.text().c_str(), 1, ENOMEM);
            }
        }
    };
};

TEST(failed_reservation, of_any_array_leaves_nothing_behind) {
    const pool_options options{.name = "poor", .capacity = 100, .pool_id = 999};
    int failures = 0;
    for (int n = 0;; ++n) {
        failing_policy::passes = n;
        try {
            pool<int, with_policy<failing_policy>> pool(options);
            EXPECT_TRUE(pool.emplace(1));
            break;
        } catch (const reservation_failed& error) {
            EXPECT_THAT(error.what(), HasSubstr("pool 'poor' "));
            ++failures;
        }
    }
    EXPECT_GT(failures, 8) << "one for each array, and each time the pool id came back";
}

} // namespace
} // namespace handlepool::test

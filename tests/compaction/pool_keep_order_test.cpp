// SPDX-License-Identifier: MIT

// The order of the dense store: what it is without the option keep_order, and with it.

#include <handlepool/executor.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/raw_pool.hpp>
#include <handlepool/sort.hpp>
#include <handlepool/thread_executor.hpp>

#include <gtest/gtest.h>
#include <support/steps/tiny_policy.hpp>
#include <tests/support/consistency.hpp>
#include <tests/support/hostile_types.hpp>
#include <tests/support/random.hpp>
#include <tests/support/tabulate.hpp>
#include <tests/support/threads.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace handlepool::test {
namespace {

using numbers = std::vector<std::uint64_t>;

template <class Pool>
numbers content(const Pool& pool) {
    numbers all;
    for (const auto& each : pool.items()) {
        if constexpr (requires { each.value(); }) {
            all.push_back(each.value());
        } else {
            all.push_back(each);
        }
    }
    return all;
}

template <class Policy>
class store_order : public testing::Test {
protected:
    using pool_type = pool<std::uint64_t, with_policy<Policy>>;
    using handle_type = typename pool_type::handle_type;
};
using policies = testing::Types<default_policy, support::tiny_policy<1>, support::tiny_policy<2>>;
TYPED_TEST_SUITE(store_order, policies);

TYPED_TEST(store_order, is_that_of_creation_in_one_thread) {
    for (const bool keep_order : {false, true}) {
        typename TestFixture::pool_type pool({.name = "numbers", .capacity = 1000, .keep_order = keep_order});
        random_source random(41);
        numbers expected;
        std::vector<typename TestFixture::handle_type> made;
        while (expected.size() < 900) {
            if (random.one_in(2)) {
                pool.emplace(expected.size());
                expected.push_back(expected.size());
            } else {
                const std::size_t count = random.below(20);
                pool.emplace_n(count, std::back_inserter(made), expected.size());
                expected.insert(expected.end(), count, expected.size());
            }
            if (random.one_in(10)) {
                pool.compact();
                ASSERT_EQ(content(pool), expected);
            }
        }
    }
}

TYPED_TEST(store_order, changes_by_a_removal_as_by_swap_and_pop) {
    typename TestFixture::pool_type pool({.name = "numbers", .capacity = 1000});
    random_source random(42);
    numbers expected;
    for (std::uint64_t i = 0; i != 200; ++i) {
        pool.emplace(i);
        expected.push_back(i);
    }
    pool.compact();
    while (!expected.empty()) {
        const std::size_t victim = random.below(expected.size());
        pool.erase(pool.handle_at(victim));
        expected[victim] = expected.back();
        expected.pop_back();
        EXPECT_EQ(pool.compact().moved, victim == expected.size() ? 0U : 1U);
        ASSERT_EQ(content(pool), expected);
    }
}

// Against a vector: what is removed is erased from it, what is created comes at its end.
TYPED_TEST(store_order, is_kept_with_the_option_whatever_is_removed) {
    random_source random(43);
    thread_executor executor(2);
    for (const std::size_t queue : {pool_options::automatic, std::size_t{2}}) {
        typename TestFixture::pool_type pool({.name = "numbers",
                                              .capacity = 3000,
                                              .reuse_delay = 0,
                                              .removal_queue_size = queue,
                                              .keep_order = true});
        std::vector<std::pair<typename TestFixture::handle_type, std::uint64_t>> expected;
        std::uint64_t next = 0;
        for (int frame = 0; frame != 100; ++frame) {
            const auto removals =
                static_cast<std::size_t>(frame % 10 == 9 ? expected.size() : random.below(20));
            std::size_t removed = 0;
            std::size_t first_hole = expected.size();
            for (std::size_t i = 0; i != removals && !expected.empty(); ++i) {
                const std::size_t victim = random.below(expected.size());
                pool.erase(expected[victim].first);
                expected.erase(expected.begin() + static_cast<std::ptrdiff_t>(victim));
                first_hole = std::min(first_hole, victim);
                ++removed;
            }
            const std::size_t survivors = expected.size();
            for (std::size_t created = random.below(30); created != 0; --created) {
                const auto handle = pool.emplace(next);
                if (random.one_in(8)) {
                    pool.erase(handle);
                    ++removed;
                } else {
                    expected.emplace_back(handle, next);
                }
                ++next;
            }
            const compaction_stats done = frame % 2 == 0 ? pool.compact() : pool.compact(executor);
            EXPECT_EQ(done.removed, removed);
            EXPECT_EQ(done.moved, survivors - std::min(survivors, first_hole));
            ASSERT_EQ(pool.items().size(), expected.size());
            for (std::size_t i = 0; i != expected.size(); ++i) {
                ASSERT_EQ(pool.items()[i], expected[i].second);
                ASSERT_EQ(pool.handle_at(i), expected[i].first);
                ASSERT_EQ(pool.find(expected[i].first), &pool.items()[i]);
            }
        }
        EXPECT_GT(pool.stats().destroyed, 1000U);
        expect_consistent(pool);
    }
}

TEST(kept_order, moves_only_what_lies_after_the_first_hole) {
    pool<std::uint64_t> pool({.name = "numbers", .capacity = 100, .keep_order = true});
    for (std::uint64_t i = 0; i != 10; ++i) {
        pool.emplace(i);
    }
    EXPECT_EQ(pool.compact().moved, 0U);
    pool.erase(pool.handle_at(7));
    pool.erase(pool.handle_at(4));
    pool.emplace(10U);
    const compaction_stats done = pool.compact();
    EXPECT_EQ(done.removed, 2U);
    EXPECT_EQ(done.born, 1U);
    EXPECT_EQ(done.moved, 4U);
    EXPECT_EQ(done.size, 9U);
    EXPECT_EQ(content(pool), (numbers{0, 1, 2, 3, 5, 6, 8, 9, 10}));
    pool.erase(pool.handle_at(8));
    EXPECT_EQ(pool.compact().moved, 0U);
    EXPECT_EQ(content(pool), (numbers{0, 1, 2, 3, 5, 6, 8, 9}));
    pool.clear();
    EXPECT_EQ(pool.compact().moved, 0U);
    expect_consistent(pool);
}

TEST(kept_order, is_that_of_a_sort_until_objects_are_created) {
    pool<std::uint64_t> pool({.name = "numbers", .capacity = 1000, .keep_order = true});
    random_source random(44);
    for (int i = 0; i != 500; ++i) {
        pool.emplace(random.bits());
    }
    pool.compact();
    const auto itself = [](std::uint64_t value) { return value; };
    sort_by(pool, itself);
    for (int i = 0; i != 100; ++i) {
        pool.erase(pool.handle_at(random.below(500)));
    }
    pool.compact();
    EXPECT_EQ(sort_by(pool, itself).moved, 0U);
}

TEST(kept_order, destroys_each_object_once) {
    census counts;
    pool<counted> pool({.name = "counted", .capacity = 500, .keep_order = true});
    random_source random(45);
    std::uint64_t next = 0;
    for (int frame = 0; frame != 50; ++frame) {
        while (pool.size() < 400) {
            pool.emplace(counts, next++);
        }
        for (std::size_t i = random.below(100); i != 0 && !pool.items().empty(); --i) {
            pool.erase(pool.handle_at(random.below(pool.items().size())));
        }
        pool.compact();
        ASSERT_TRUE(std::ranges::is_sorted(pool.items(), {}, &counted::value));
        ASSERT_EQ(counts.alive(), static_cast<std::int64_t>(pool.size()));
    }
    pool.reset();
    EXPECT_EQ(counts.alive(), 0);
    pool.emplace(counts, 0U);
    expect_consistent(pool);
}

TEST(kept_order, holds_for_raw_pools) {
    raw_pool<> pool({.name = "raw", .capacity = 100, .keep_order = true}, {.size = 8, .alignment = 8});
    const auto handles = tabulate(std::uint64_t{10}, [&](std::uint64_t i) {
        return pool.emplace([=](void* memory) { ::new (memory) std::uint64_t(i); });
    });
    pool.compact();
    pool.erase(handles[0]);
    pool.erase(handles[5]);
    pool.compact();
    numbers all;
    for (std::size_t i = 0; i != pool.items().size(); ++i) {
        all.push_back(*static_cast<const std::uint64_t*>(pool.items()[i]));
    }
    EXPECT_EQ(all, (numbers{1, 2, 3, 4, 6, 7, 8, 9}));
}

// Each thread's objects stay in the order in which it created them, while others create and erase during the
// compactions.
TEST(kept_order, of_each_thread_holds_while_others_work) {
    constexpr std::size_t thread_count = 3;
    pool<std::uint64_t, with_policy<support::tiny_policy<2>>> pool(
        {.name = "busy", .capacity = 20'000, .reuse_delay = 0, .keep_order = true});
    random_source random(46);
    auto engines = tabulate(thread_count, [&](std::size_t) { return random.fork(); });
    in_threads(thread_count + 1, [&](std::size_t thread) {
        if (thread == thread_count) {
            for (int i = 0; i != 30; ++i) {
                pool.compact();
                std::uint64_t last[thread_count] = {};
                for (const std::uint64_t value : pool.items()) {
                    std::uint64_t& mine = last[value >> 32];
                    EXPECT_LT(mine, value);
                    mine = value;
                }
            }
            return;
        }
        std::vector<typename decltype(pool)::handle_type> living;
        for (std::uint64_t i = 1; i != 3000; ++i) {
            living.push_back(pool.emplace(std::uint64_t{thread} << 32 | i));
            if (engines[thread]() % 2 == 0) {
                std::swap(living[engines[thread]() % living.size()], living.back());
                EXPECT_TRUE(pool.erase(living.back()));
                living.pop_back();
            }
        }
    });
    expect_consistent(pool);
}

// An executor that follows the phases.
struct listener : inline_executor {
    void begin_compaction(std::string_view) {}
    void begin_phase(compaction_phase phase) { phases.push_back(phase); }
    void end_compaction(const compaction_stats&) {}

    std::vector<compaction_phase> phases;
};

TEST(kept_order, is_kept_before_newborns_are_taken_in) {
    using enum compaction_phase;
    pool<int> pool({.name = "ints", .capacity = 10, .keep_order = true});
    listener heard;
    pool.compact(heard);
    EXPECT_EQ(heard.phases, (std::vector{collect_removals, destroy, fill_holes, collect_newborns,
                                         place_newborns, give_back}));
}

} // namespace
} // namespace handlepool::test

// SPDX-License-Identifier: MIT
#include <handlepool/executor.hpp>
#include <handlepool/policy.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/pool_options.hpp>
#include <handlepool/stable_pool.hpp>
#include <handlepool/stats.hpp>
#include <handlepool/thread_executor.hpp>

#include <gtest/gtest.h>
#include <tests/support/tabulate.hpp>

#include <cstddef>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

// A compaction does what was there when it began, whoever runs it and in whatever shard: what its
// destructors, hooks and move constructors bring waits for the next one.
namespace handlepool::test {
namespace {

struct four_threads : thread_executor {
    four_threads() : thread_executor(4) {}
};

template <class Executor>
class snapshot : public testing::Test {
protected:
    Executor executor;
};
using executors = testing::Types<inline_executor, four_threads>;
TYPED_TEST_SUITE(snapshot, executors);

/// Erases a child when it is destroyed.
struct parent {
    std::function<void()> at_end;
    explicit parent(std::function<void()> erase) : at_end(std::move(erase)) {}
    parent(parent&& other) noexcept : at_end(std::exchange(other.at_end, nullptr)) {}
    ~parent() {
        if (at_end) {
            at_end();
        }
    }
};

constexpr int parents = 2000;

struct family {
    explicit family(std::size_t queue_size = pool_options{}.removal_queue_size)
        : pool({.name = "family", .capacity = 10'000, .removal_queue_size = queue_size}) {}

    void populate() {
        for (int i = 0; i != parents; ++i) {
            const auto child = pool.emplace(std::function<void()>());
            all.push_back(pool.emplace([this, child] { pool.erase(child); }));
        }
    }

    handlepool::pool<parent> pool;
    std::vector<handle<parent>> all;
};

TYPED_TEST(snapshot, of_removals_has_no_part_of_what_destructors_erase) {
    // The records come from another shard than that of the thread which compacts, whichever of both is the
    // first; this thread has the first one.
    family one;
    one.pool.emplace(std::function<void()>());
    std::thread([&] {
        one.populate();
        one.pool.compact();
        one.pool.erase(one.all);
    }).join();
    EXPECT_EQ(one.pool.compact(this->executor).removed, static_cast<std::size_t>(parents));
    EXPECT_EQ(one.pool.compact(this->executor).removed, static_cast<std::size_t>(parents));

    family other;
    other.populate();
    other.pool.compact();
    other.pool.erase(other.all);
    std::thread([&] {
        other.pool.emplace(std::function<void()>()); // this thread has the other shard
        EXPECT_EQ(other.pool.compact(this->executor).removed, static_cast<std::size_t>(parents));
    }).join();
    EXPECT_EQ(other.pool.compact(this->executor).removed, static_cast<std::size_t>(parents));
}

TYPED_TEST(snapshot, leaves_room_in_the_queue_for_what_destructors_erase) {
    family one(parents);
    one.populate();
    one.pool.compact();
    EXPECT_EQ(one.pool.erase(one.all), one.all.size());
    one.pool.compact(this->executor);
    one.pool.compact(this->executor);
    EXPECT_EQ(one.pool.stats().sweeps, 0U);
    EXPECT_EQ(one.pool.size(), 0U);
}

/// Makes another one when it moves, as long as there are to be more.
struct breeder {
    static inline std::function<void()> breed;

    breeder() = default;
    breeder(breeder&&) noexcept {
        if (breed) {
            breed();
        }
    }
    ~breeder() = default;
};

TYPED_TEST(snapshot, of_newborns_has_no_part_of_what_is_made_while_they_move) {
    // Whole chunks: a compaction that looked again after each would find the next one full. And a few, with
    // which those that they make have room in one chunk.
    constexpr std::size_t chunk = default_policy::nursery_chunk;
    constexpr std::size_t few = chunk / 8;
    for (const auto& [elsewhere, here] : {std::pair{chunk, 2 * chunk}, {few, 2 * few}}) {
        pool<breeder> pool({.name = "breeders", .capacity = 100'000});
        const auto populate = [&pool](std::size_t count) {
            for (std::size_t i = 0; i != count; ++i) {
                pool.emplace();
            }
        };
        populate(elsewhere);
        const std::size_t all = elsewhere + here;
        // In a shard that is looked at after the other.
        std::thread([&, count = here] {
            populate(count);
            breeder::breed = [&] { pool.emplace(); };
            EXPECT_EQ(pool.compact(this->executor).born, all);
            EXPECT_EQ(pool.compact(this->executor).born, all);
            breeder::breed = nullptr;
            EXPECT_EQ(pool.compact(this->executor).born, all);
            EXPECT_EQ(pool.compact(this->executor).born, 0U);
        }).join();
    }
}

template <class Pool, class Executor>
void expect_no_children_in(Pool&& pool, Executor& executor) {
    constexpr std::size_t few = 10; // they and their children have room in one chunk
    int wanted = 2 * few;
    const scoped_hook hook = pool.on_birth([&](auto, int&) {
        if (wanted-- > 0) {
            pool.emplace(0);
        }
    });
    for (std::size_t i = 0; i != few; ++i) {
        pool.emplace(0);
    }
    EXPECT_EQ(pool.compact(executor).born, few);
    EXPECT_EQ(pool.compact(executor).born, few);
    EXPECT_EQ(pool.compact(executor).born, few);
    EXPECT_EQ(pool.compact(executor).born, 0U);
}

TYPED_TEST(snapshot, of_newborns_has_no_part_of_what_hooks_make) {
    const pool_options options{.name = "hooked", .capacity = 10'000};
    expect_no_children_in(pool<int>(options), this->executor);
    expect_no_children_in(stable_pool<int>(options), this->executor);
    stable_pool<int> with_holes(options);
    const auto all = tabulate(1000, [&](int i) { return with_holes.emplace(i); });
    with_holes.compact();
    for (std::size_t i = 0; i < all.size(); i += 2) {
        with_holes.erase(all[i]);
    }
    with_holes.compact();
    expect_no_children_in(std::move(with_holes), this->executor);
}

} // namespace
} // namespace handlepool::test

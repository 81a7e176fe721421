// SPDX-License-Identifier: MIT

// Spawners while memory runs out: each call does what it is asked, or nothing.

#include <handlepool/pool.hpp>
#include <handlepool/spawner.hpp>
#include <handlepool/stable_pool.hpp>

#include <gtest/gtest.h>
#include <tests/support/consistency.hpp>
#include <tests/support/failing_new.hpp>

#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

namespace handlepool::test {
namespace {

class spawner_memory : public testing::TestWithParam<shortage> {
protected:
    template <class Pool>
    void try_all() {
        using handle_type = typename Pool::handle_type;
        std::size_t failures = 0;
        Pool pool({.name = "pool", .capacity = 4000, .record_lives = 1, .spawners = 8});
        std::vector<handle_type> made;
        std::size_t alive = 0;
        const auto compact = [&] {
            pool.compact();
            EXPECT_EQ(pool.size(), alive);
        };

        // The set itself: after a failure another one can be had, and all room is there.
        for (const std::size_t count : {8U, 3U}) {
            failures += with_each_allocation_failing(GetParam(), [&](memory_shortage& when) {
                std::optional<decltype(pool.spawners(count))> spawners;
                const bool thrown = when.hits([&] { spawners.emplace(pool.spawners(count)); });
                EXPECT_EQ(spawners.has_value(), !thrown);
                if (spawners) {
                    made.push_back((*spawners)[count - 1].emplace("one"));
                    ++alive;
                    spawners->close();
                }
                compact();
            });
        }

        auto spawners = pool.spawners(2);
        failures += with_each_allocation_failing(GetParam(), [&](memory_shortage& when) {
            std::vector<handle_type> some;
            some.reserve(200);
            const bool thrown =
                when.hits([&] { spawners[1].emplace_n(200, std::back_inserter(some), std::size_t{1}, 'x'); });
            EXPECT_EQ(some.size(), thrown ? 0 : 200);
            alive += some.size();
            EXPECT_EQ(pool.size(), alive);
            made.insert(made.end(), some.begin(), some.end());
        });
        spawners.close();
        compact();

        // What is left to the compaction: each failed call has left nothing behind.
        spawners = pool.spawners(2);
        std::size_t next = 0;
        std::vector<std::string> sunk;
        sunk.reserve(100);
        std::size_t to_sink = 0;
        std::vector<std::size_t> calls;
        calls.reserve(100);
        std::size_t to_call = 0;
        for (int round = 0; round != 20; ++round) {
            failures += with_each_allocation_failing(GetParam(), [&](memory_shortage& when) {
                const bool thrown = when.hits([&] { EXPECT_TRUE(spawners[0].erase(made[next])); });
                alive -= thrown ? 0 : 1;
                next += thrown ? 0 : 1;
            });
            failures += with_each_allocation_failing(GetParam(), [&](memory_shortage& when) {
                const bool thrown = when.hits([&] {
                    EXPECT_TRUE(spawners[1].extract(
                        made[next], [&](std::string&& text) { sunk.push_back(std::move(text)); }));
                });
                to_sink += thrown ? 0 : 1;
                alive -= thrown ? 0 : 1;
                next += thrown ? 0 : 1;
            });
            failures += with_each_allocation_failing(GetParam(), [&](memory_shortage& when) {
                handle_type given;
                const bool thrown = when.hits([&] { given = spawners[1].revoke(made[next]); });
                EXPECT_EQ(bool(given), !thrown);
                made.push_back(thrown ? made.back() : given);
                next += thrown ? 0 : 1;
            });
            failures += with_each_allocation_failing(GetParam(), [&](memory_shortage& when) {
                const bool thrown =
                    when.hits([&] { spawners[0].defer([&calls, to_call] { calls.push_back(to_call); }); });
                to_call += thrown ? 0 : 1;
            });
        }
        EXPECT_GT(failures, 20);
        expect_no_allocation([&] { spawners.close(); });
        EXPECT_EQ(calls.size(), to_call);
        expect_no_allocation([&] { pool.compact(); });
        EXPECT_EQ(pool.size(), alive);
        EXPECT_EQ(sunk.size(), to_sink);
        for (std::size_t i = 0; i != next; ++i) {
            EXPECT_FALSE(pool.contains(made[i]));
        }
        expect_consistent(pool);
        spawners = pool.spawners(1);
        EXPECT_EQ(spawners[0].room(), 4000 - alive);
    }
};

TEST_P(spawner_memory, changes_nothing_where_it_fails) {
    try_all<pool<std::string>>();
}
TEST_P(spawner_memory, changes_nothing_where_it_fails_in_a_stable_pool) {
    try_all<stable_pool<std::string>>();
}

INSTANTIATE_TEST_SUITE_P(shortages, spawner_memory, both_shortages, name_of_shortage);

} // namespace
} // namespace handlepool::test

// SPDX-License-Identifier: MIT

// Another thread that uses a pool to which one has exclusive access: a checked build reports it.

#include <handlepool/exclusive_pool.hpp>
#include <handlepool/pool.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <thread>

namespace handlepool::test {
namespace {

#if HANDLEPOOL_CHECKED

using ints = pool<int>;

class exclusive_contract_death : public testing::Test {
protected:
    void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }

    /// Calls `use()` in a thread of its own.
    template <class Use>
    static void elsewhere(Use use) {
        std::thread(use).join();
    }

    static constexpr const char* message =
        "handlepool: pool 'ints': thread [0-9]+ has used it while thread [0-9]+ has exclusive access";
};

TEST_F(exclusive_contract_death, use_by_another_thread) {
    ints pool({.name = "ints", .capacity = 10});
    const auto handle = pool.emplace(1);
    auto alone = pool.exclusive_access();
    EXPECT_DEATH(elsewhere([&] { pool.emplace(2); }), message);
    EXPECT_DEATH(elsewhere([&] { pool.erase(handle); }), message);
    EXPECT_DEATH(elsewhere([&] { static_cast<void>(pool.find(handle)); }), message);
    EXPECT_DEATH(elsewhere([&] { static_cast<void>(pool.contains(handle)); }), message);
    EXPECT_DEATH(elsewhere([&] { static_cast<void>(pool.items()); }), message);
    EXPECT_DEATH(elsewhere([&] { alone.emplace(2); }), message);
    EXPECT_DEATH(elsewhere([&] { alone.erase(handle); }), message);
}

TEST_F(exclusive_contract_death, destruction_under_a_view) {
    EXPECT_DEATH(
        {
            auto pool = std::make_unique<ints>(pool_options{.name = "ints", .capacity = 10});
            const auto alone = pool->exclusive_access();
            pool.reset();
        },
        "pool 'ints': destroyed while an access guard is held, a compaction runs, or a thread has exclusive "
        "access");
}

#endif

TEST(exclusive_contract, lets_other_threads_ask_what_they_may) {
    pool<int> pool({.name = "ints", .capacity = 10});
    auto alone = pool.exclusive_access();
    const auto mine = alone.emplace(1);
    std::thread([&] {
        EXPECT_FALSE(pool.try_access());
        EXPECT_FALSE(pool.try_compact());
        EXPECT_FALSE(pool.try_shrink_to_fit());
        EXPECT_FALSE(pool.try_exclusive_access());
        EXPECT_EQ(pool.name(), "ints");
        EXPECT_EQ(pool.capacity(), 10U);
        EXPECT_EQ(pool.id(), mine.pool_id());
    }).join();
    EXPECT_EQ(pool.at(mine), 1); // the thread itself may use the pool
    EXPECT_TRUE(pool.contains(mine));
}

} // namespace
} // namespace handlepool::test

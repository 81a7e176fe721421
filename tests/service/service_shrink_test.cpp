// SPDX-License-Identifier: MIT

// shrink_to_fit of a service: of all its pools, and what keeps it off.

#include <handlepool/recycling_pool.hpp>
#include <handlepool/service.hpp>
#include <handlepool/stable_pool.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <thread>

namespace handlepool::test {
namespace {

using testing::ThrowsMessage;

struct page_sized {
    void clear() noexcept {} // for recycling pools

    std::array<char, 4096> bytes{};
};

/// A service whose pools have memory to return; one of each placement.
class service_shrink_test : public testing::Test {
protected:
    static constexpr std::size_t objects = 200;

    service_shrink_test() { leave_memory(); }

    void leave_memory() {
        for (std::size_t i = 0; i != objects; ++i) {
            dense.emplace();
            stable.emplace();
            recycling.emplace();
        }
        world.compact();
        dense.clear();
        stable.clear();
        recycling.clear();
        world.compact();
    }
    template <class Pool>
    static std::size_t bytes_of(const Pool& pool) {
        return pool.stats().bytes_resident_in_objects;
    }
    std::size_t bytes() const { return bytes_of(dense) + bytes_of(stable) + bytes_of(recycling); }

    service world;
    pool<page_sized>& dense = world.add<pool<page_sized>>("dense", {.capacity = 1000});
    stable_pool<page_sized>& stable = world.add<stable_pool<page_sized>>("stable", {.capacity = 1000});
    recycling_pool<page_sized>& recycling =
        world.add<recycling_pool<page_sized>>("recycling", {.capacity = 1000});
};

TEST_F(service_shrink_test, all_pools_return_their_memory) {
    ASSERT_GE(bytes(), 3 * objects * sizeof(page_sized));
    const std::uint64_t frames = world.frames();
    service_shrink done = world.shrink_to_fit();
    EXPECT_EQ(done.pools, 3U);
    EXPECT_EQ(done.skipped, 0U);
    EXPECT_EQ(bytes(), 0U);
    EXPECT_EQ(world.frames(), frames) << "it is no frame";

    leave_memory();
    world.remove_pool("dense"); // lives until the next compaction
    done = world.try_shrink_to_fit().value();
    EXPECT_EQ(done.pools, 2U);
    EXPECT_EQ(done.skipped, 0U);
    EXPECT_EQ(bytes_of(stable) + bytes_of(recycling), 0U);
    EXPECT_GE(bytes_of(dense), objects * sizeof(page_sized));
}

TEST_F(service_shrink_test, pools_that_no_frame_has_seen_return_their_memory_too) {
    for (const bool try_to : {false, true}) {
        auto& added = world.add<pool<page_sized>>(try_to ? "second" : "first", {.capacity = 1000});
        for (std::size_t i = 0; i != objects; ++i) {
            added.emplace();
        }
        added.compact();
        added.clear();
        added.compact();
        ASSERT_GE(bytes_of(added), objects * sizeof(page_sized));
        const service_shrink done = try_to ? world.try_shrink_to_fit().value() : world.shrink_to_fit();
        EXPECT_EQ(done.pools, world.size());
        EXPECT_EQ(done.skipped, 0U);
        EXPECT_EQ(bytes_of(added), 0U);
    }
    EXPECT_EQ(bytes(), 0U);
}

TEST_F(service_shrink_test, a_pool_that_refuses_is_named_after_the_others_have_returned_theirs) {
    {
        const auto guard = dense.access();
        EXPECT_THAT([&] { world.shrink_to_fit(); },
                    ThrowsMessage<compaction_conflict>(
                        "handlepool: pool 'dense': compaction was asked for by a thread that has made an "
                        "access guard or spawners, which still live"));
        EXPECT_EQ(bytes_of(stable), 0U);
        EXPECT_GE(bytes_of(dense), objects * sizeof(page_sized));

        const std::optional<service_shrink> done = world.try_shrink_to_fit();
        ASSERT_TRUE(done);
        EXPECT_EQ(done->pools, 2U);
        EXPECT_EQ(done->skipped, 1U);
    }
    EXPECT_EQ(world.shrink_to_fit().pools, 3U);
    EXPECT_EQ(bytes(), 0U);
}

TEST_F(service_shrink_test, is_refused_beside_a_guard_or_a_compaction_of_the_service) {
    const std::size_t before = bytes();
    {
        const auto guard = world.access();
        EXPECT_THROW(world.shrink_to_fit(), compaction_conflict);
        EXPECT_EQ(world.try_shrink_to_fit(), std::nullopt);
    }
    int called = 0;
    const scoped_hook hook = dense.on_destroy([&](handle<page_sized>, page_sized&) {
        ++called;
        EXPECT_THROW(world.shrink_to_fit(), compaction_conflict);
        EXPECT_EQ(world.try_shrink_to_fit(), std::nullopt);
        EXPECT_FALSE(dense.try_shrink_to_fit());
        EXPECT_TRUE(stable.try_shrink_to_fit()) << "it is not being compacted";
        std::thread([&] {
            EXPECT_THROW(world.shrink_to_fit(), compaction_conflict);
            EXPECT_EQ(world.try_shrink_to_fit(), std::nullopt);
            EXPECT_FALSE(dense.try_shrink_to_fit());
        }).join();
    });
    EXPECT_GE(bytes(), before);
    dense.erase(dense.emplace());
    world.compact();
    EXPECT_EQ(called, 1);
    EXPECT_EQ(bytes_of(stable), 0U);
}

// The thread that holds the guard of the pool needs one of the service before it ends the first.
TEST_F(service_shrink_test, waits_for_guards_of_pools_and_lets_those_of_the_service_pass) {
    auto of_pool = std::optional(stable.access());
    std::jthread shrinking([&] { EXPECT_EQ(world.shrink_to_fit().pools, 3U); });
    while (world.try_access()) { // until it has begun
        std::this_thread::yield();
    }
    {
        const auto of_service = world.access();
        of_pool.reset();
    }
    shrinking.join();
    EXPECT_EQ(bytes(), 0U);
}

TEST_F(service_shrink_test, any_pool_returns_its_memory) {
    any_pool<default_layout>& pool = *world.find_any_pool("dense");
    {
        const auto guard = dense.access();
        EXPECT_FALSE(pool.try_shrink_to_fit());
        EXPECT_THROW(pool.shrink_to_fit(), compaction_conflict);
    }
    EXPECT_TRUE(pool.try_shrink_to_fit());
    EXPECT_EQ(bytes_of(dense), 0U);
    EXPECT_NO_THROW(world.find_any_pool("stable")->shrink_to_fit());
    EXPECT_NO_THROW(world.find_any_pool("recycling")->shrink_to_fit());
    EXPECT_EQ(bytes(), 0U);
}

} // namespace
} // namespace handlepool::test

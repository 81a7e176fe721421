// SPDX-License-Identifier: MIT

// Pools of a service are sorted through the pools themselves.

#include <handlepool/pool.hpp>
#include <handlepool/service.hpp>
#include <handlepool/sort.hpp>

#include <gtest/gtest.h>
#include <tests/support/threads.hpp>

#include <atomic>
#include <cstddef>
#include <vector>

namespace handlepool::test {
namespace {

class sorted_in_service : public testing::Test {
protected:
    sorted_in_service() {
        for (const int value : {3, 1, 2}) {
            handles.push_back(ints.emplace(value));
        }
        ints.compact();
    }

    void expect_order() {
        for (int i = 0; i != 3; ++i) {
            EXPECT_EQ(ints.items()[static_cast<std::size_t>(i)], i + 1);
        }
        EXPECT_EQ(*world.find<int>(handles[0]), 3);
        EXPECT_EQ(*world.find<int>(handles[1]), 1);
        EXPECT_EQ(*world.find<int>(handles[2]), 2);
    }

    std::size_t refused = 0; // counted by a hook, which the pool's end calls too
    service world;
    pool<int>& ints = world.add<pool<int>>("ints", {.capacity = 10});
    std::vector<any_handle> handles;
};

constexpr auto itself = [](int value) noexcept { return value; };

TEST_F(sorted_in_service, routed_handles_find_the_objects_where_they_are) {
    sort_by(ints, itself);
    expect_order();
}

TEST_F(sorted_in_service, a_compaction_by_the_service_keeps_sorts_off) {
    const scoped_hook hook = ints.on_destroy([this](auto, int&) {
        EXPECT_THROW(sort_by(ints, itself), compaction_conflict);
        EXPECT_THROW(sort_some_by(ints, itself, 10), compaction_conflict);
        ++refused;
    });
    world.erase(ints.emplace(0));
    world.compact();
    EXPECT_EQ(refused, 1U);
    sort_by(ints, itself);
    expect_order();
}

TEST_F(sorted_in_service, a_sort_keeps_compactions_by_the_service_off) {
    enum { nothing, comparing, seen };
    std::atomic<int> state = nothing;
    in_threads(2, [&](std::size_t thread) {
        if (thread == 0) {
            sort(ints, [&](int a, int b) {
                if (state == nothing) {
                    state = comparing;
                    state.notify_all();
                    state.wait(comparing);
                }
                return a < b;
            });
        } else {
            state.wait(nothing);
            ints.emplace(4);
            EXPECT_THROW(world.compact(), compaction_conflict);
            EXPECT_TRUE(world.try_compact().has_value());
            EXPECT_EQ(ints.stats().newborn, 1U) << "it skips the pool";
            EXPECT_FALSE(ints.try_compact());
            EXPECT_FALSE(ints.try_access());
            state = seen;
            state.notify_all();
        }
    });
    expect_order();
    world.compact();
    EXPECT_EQ(ints.stats().newborn, 0U);
}

} // namespace
} // namespace handlepool::test

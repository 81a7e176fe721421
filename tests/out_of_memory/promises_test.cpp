// SPDX-License-Identifier: MIT
#include <handlepool/handle.hpp>
#include <handlepool/pool.hpp>
#include <handlepool/raw_pool.hpp>
#include <handlepool/service.hpp>

#include <gtest/gtest.h>
#include <tests/support/failing_new.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <ranges>
#include <string>
#include <thread>
#include <utility>
#include <vector>

// Functions that the README says throw nothing: here they run out of memory, at each allocation in turn. None
// may throw, nor end the program, nor do anything else than it does with memory.
namespace handlepool::test {
namespace {

// Too long to be kept in a string itself, which a copy would need memory for.
const std::string name = "a name of more characters than a string has room for";

/// Has members that need memory, which compaction must move without any.
struct ship {
    std::vector<int> crew = std::vector<int>(10, 7);
    std::string home = name;
};

class promise_test : public testing::TestWithParam<shortage> {
protected:
    /// Calls `call(pool, alive, dead)` for a pool with objects of all kinds: dense, newborn, erased.
    template <class Call>
    void of_pool(Call call) {
        with_each_allocation_failing(GetParam(), [&](memory_shortage& memory) {
            pool<ship> ships({.name = name, .capacity = 1000, .remember_frames = true});
            std::vector<handle<ship>> alive;
            std::vector<handle<ship>> dead;
            fill(ships, alive, dead);
            memory.begin();
            call(ships, alive, dead);
            memory.end();
        });
    }

    /// The same for a service with several pools, one of them removed; the handles are those of one.
    /// `after(service, alive)` is called when there is memory again.
    template <class Call, class After>
    void of_service(Call call, After after) {
        with_each_allocation_failing(GetParam(), [&](memory_shortage& memory) {
            service world;
            auto& ships = world.add<pool<ship>>(name, {.capacity = 1000});
            world.add<pool<int>>("ints", {.capacity = 1000}).emplace(7);
            world.add<raw_pool<>>("raw", {.capacity = 1000}, raw_type{.size = 12, .alignment = 4}).emplace();
            world.add<pool<int>>("removed", {.capacity = 1000}).emplace(7);
            std::vector<handle<ship>> alive;
            std::vector<handle<ship>> dead;
            fill(ships, alive, dead);
            world.remove_pool("removed");
            memory.begin();
            call(world, alive, dead);
            memory.end();
            after(world, alive);
        });
    }
    template <class Call>
    void of_service(Call call) {
        of_service(call, [](service&, const auto&) {});
    }

private:
    static void fill(pool<ship>& ships, std::vector<handle<ship>>& alive, std::vector<handle<ship>>& dead) {
        for (int i = 0; i != 400; ++i) {
            (i % 4 == 0 ? dead : alive).push_back(ships.emplace());
            if (i == 300) {
                ships.compact();
            }
        }
        EXPECT_EQ(ships.erase(dead), dead.size());
    }
};

INSTANTIATE_TEST_SUITE_P(memory, promise_test, both_shortages, name_of_shortage);

// Or all of the following would show nothing.
TEST_P(promise_test, the_test_makes_allocations_fail) {
    std::size_t failures = 0;
    const std::size_t allocations = with_each_allocation_failing(GetParam(), [&](memory_shortage& memory) {
        failures += memory.hits([] { const std::vector<std::string> names(2, name); }) ? 1 : 0;
    });
    EXPECT_EQ(allocations, 3U);
    EXPECT_EQ(failures, 3U);
}

// ---- Pools

TEST_P(promise_test, erase_needs_no_memory) {
    of_pool([](pool<ship>& ships, const auto& alive, const auto& dead) {
        for (const auto handle : alive) {
            EXPECT_TRUE(ships.erase(handle));
        }
        EXPECT_FALSE(ships.erase(dead[0]));
        EXPECT_TRUE(ships.empty());
    });
}

TEST_P(promise_test, erase_in_a_thread_that_never_used_a_pool_needs_no_memory) {
    with_each_allocation_failing(GetParam(), [](memory_shortage& memory) {
        pool<ship> ships({.name = name, .capacity = 1000});
        const auto handle = ships.emplace();
        std::thread([&] {
            memory.begin();
            EXPECT_TRUE(ships.erase(handle));
            memory.end();
        }).join();
        EXPECT_EQ(ships.compact().removed, 1U);
    });
}

TEST_P(promise_test, contains_find_and_subscript_need_no_memory) {
    of_pool([](pool<ship>& ships, const auto& alive, const auto& dead) {
        for (const auto handle : alive) {
            EXPECT_TRUE(ships.contains(handle));
            EXPECT_EQ(ships.find(handle)->crew[9], 7);
            EXPECT_EQ(&ships[handle], ships.find(handle));
        }
        EXPECT_FALSE(ships.contains(dead[0]));
        EXPECT_EQ(ships.find(dead[0]), nullptr);
        EXPECT_EQ(ships.find(handle<ship>()), nullptr);
    });
}

TEST_P(promise_test, clear_needs_no_memory) {
    of_pool([](pool<ship>& ships, const auto& alive, const auto&) {
        ships.clear();
        EXPECT_TRUE(ships.empty());
        EXPECT_FALSE(ships.contains(alive[0]));
    });
}

TEST_P(promise_test, size_capacity_name_id_and_idle_need_no_memory) {
    of_pool([](pool<ship>& ships, const auto& alive, const auto&) {
        EXPECT_EQ(ships.size(), alive.size());
        EXPECT_FALSE(ships.empty());
        EXPECT_EQ(ships.capacity(), 1000U);
        EXPECT_EQ(ships.name(), name);
        EXPECT_EQ(ships.id(), alive[0].pool_id());
        EXPECT_FALSE(ships.idle());
    });
}

TEST_P(promise_test, views_of_objects_and_their_handles_need_no_memory) {
    of_pool([](pool<ship>& ships, const auto& alive, const auto&) {
        EXPECT_EQ(ships.items().size(), 301U);
        EXPECT_EQ(std::ranges::distance(ships), 301);
        EXPECT_EQ(ships.handle_of(*ships.find(alive[0])), alive[0]);
        EXPECT_EQ(ships.handle_at(0), ships.handle_of(ships.items()[0]));
    });
}

TEST_P(promise_test, skip_frame_needs_no_memory) {
    of_pool([](pool<ship>& ships, const auto&, const auto&) {
        detail::pool_access::core_of(ships).skip_frame();
    });
}

TEST_P(promise_test, try_compact_needs_no_memory) {
    of_pool([](pool<ship>& ships, const auto& alive, const auto& dead) {
        const auto done = ships.try_compact();
        EXPECT_TRUE(done.has_value());
        EXPECT_EQ(done->removed, dead.size());
        EXPECT_EQ(ships.items().size(), alive.size());
        EXPECT_TRUE(ships.idle());
    });
}

TEST_P(promise_test, try_compact_beside_a_guard_needs_no_memory) {
    of_pool([](pool<ship>& ships, const auto&, const auto&) {
        const auto guard = ships.access();
        EXPECT_FALSE(ships.try_compact().has_value());
    });
}

// The same work; it throws compaction_conflict only.
TEST_P(promise_test, compact_and_shrink_to_fit_need_no_memory) {
    of_pool([](pool<ship>& ships, const auto& alive, const auto& dead) {
        EXPECT_EQ(ships.compact().removed, dead.size());
        ships.shrink_to_fit();
        EXPECT_EQ(ships.items().size(), alive.size());
    });
}

TEST_P(promise_test, a_pools_end_needs_no_memory) {
    with_each_allocation_failing(GetParam(), [](memory_shortage& memory) {
        std::optional<pool<ship>> ships(std::in_place, pool_options{.name = name, .capacity = 1000});
        ships->emplace();
        memory.begin();
        ships.reset();
        memory.end();
    });
}

TEST_P(promise_test, functions_of_a_pool_of_raw_objects_need_no_memory) {
    with_each_allocation_failing(GetParam(), [](memory_shortage& memory) {
        raw_pool<> things({.name = name, .capacity = 1000}, {.size = 12, .alignment = 4});
        const auto first = things.emplace();
        const auto second = things.emplace();
        memory.begin();
        EXPECT_TRUE(things.contains(first));
        EXPECT_NE(things.find(first), nullptr);
        EXPECT_TRUE(things.erase(first));
        EXPECT_EQ(things.size(), 1U);
        EXPECT_EQ(things.try_compact()->removed, 1U);
        EXPECT_EQ(things.handle_of(things.find(second)), second);
        things.clear();
        EXPECT_TRUE(things.empty());
        memory.end();
    });
}

// ---- The service

TEST_P(promise_test, contains_and_erase_of_a_service_need_no_memory) {
    of_service([](service& world, const auto& alive, const auto& dead) {
        for (const auto handle : alive) {
            EXPECT_TRUE(world.contains(handle));
            EXPECT_TRUE(world.erase(handle));
            EXPECT_FALSE(world.contains(handle));
        }
        EXPECT_FALSE(world.erase(dead[0]));
        EXPECT_FALSE(world.erase(any_handle()));
    });
}

TEST_P(promise_test, route_handle_cast_and_find_of_a_service_need_no_memory) {
    of_service([](service& world, const auto& alive, const auto& dead) {
        const any_handle handle = alive[0];
        EXPECT_EQ(world.route(handle)->name(), name);
        EXPECT_EQ(world.handle_cast<ship>(handle), alive[0]);
        EXPECT_EQ(world.handle_cast<int>(handle), handlepool::handle<int>());
        EXPECT_EQ(world.find<ship>(handle)->crew[9], 7);
        EXPECT_EQ(world.find<int>(handle), nullptr);
        EXPECT_EQ(world.find<ship>(dead[0]), nullptr);
        EXPECT_EQ(world.route(any_handle::from_value(~std::uint64_t{0})), nullptr);
    });
}

TEST_P(promise_test, frames_of_a_service_needs_no_memory) {
    of_service([](service& world, const auto&, const auto&) { EXPECT_EQ(world.frames(), 0U); });
}

TEST_P(promise_test, try_compact_of_a_service_throws_nothing_and_what_it_leaves_the_next_one_does) {
    bool threw = false;
    of_service(
        [&](service& world, const auto&, const auto&) {
            try {
                world.try_compact();
            } catch (...) {
                threw = true; // to be told when there is memory again
            }
        },
        [&](service& world, const auto& alive) {
            EXPECT_TRUE(world.try_compact().has_value());
            EXPECT_EQ(world.find_pool<pool<ship>>(name)->items().size(), alive.size());
            EXPECT_EQ(world.find<ship>(alive[0])->crew[9], 7);
        });
    EXPECT_FALSE(threw);
}

} // namespace
} // namespace handlepool::test

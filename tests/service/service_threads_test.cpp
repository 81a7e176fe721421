// SPDX-License-Identifier: MIT

// A service under the hands of many threads.

#include <handlepool/pool.hpp>
#include <handlepool/service.hpp>
#include <handlepool/thread_executor.hpp>

#include <gtest/gtest.h>
#include <tests/support/hostile_types.hpp>
#include <tests/support/threads.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>

namespace handlepool::test {
namespace {

const pool_options small{.capacity = 1000};

TEST(service_threads, of_many_that_add_one_name_exactly_one_succeeds) {
    service world;
    std::atomic<int> added = 0;
    std::atomic<int> refused = 0;
    in_threads(4, [&](std::size_t) {
        for (int i = 0; i != 20; ++i) {
            try {
                world.add<pool<int>>("ships " + std::to_string(i), small).emplace(1);
                ++added;
            } catch (const std::invalid_argument&) {
                ++refused;
            }
        }
    });
    EXPECT_EQ(added, 20);
    EXPECT_EQ(refused, 60);
    EXPECT_EQ(world.size(), 20U);
    EXPECT_EQ(world.compact().born, 20U);
}

/// Handles that threads show each other.
class board {
public:
    void show(std::size_t place, any_handle handle) { places_[place % size].store(handle.value()); }
    any_handle look(std::size_t place) const { return any_handle::from_value(places_[place % size].load()); }

private:
    static constexpr std::size_t size = 64;
    std::array<std::atomic<std::uint64_t>, size> places_{};
};

TEST(service_threads, pools_are_added_while_others_route_handles_and_one_compacts) {
    service world;
    board handles;
    std::atomic<int> adding = 2;
    std::atomic<std::uint64_t> resolved = 0;
    std::atomic<std::uint64_t> created = 0;
    std::atomic<int> wrong = 0;
    const auto show = [&](pool<std::uint64_t>& pool, std::size_t place) {
        if (const auto handle = pool.try_emplace(pool.id())) {
            handles.show(place, handle);
            ++created;
        }
    };
    in_threads(5, [&](std::size_t thread) {
        if (thread < 2) {
            const std::string mine = "pool " + std::to_string(thread) + " ";
            for (std::size_t i = 0; i != 40; ++i) {
                auto& pool = world.add<handlepool::pool<std::uint64_t>>(mine + std::to_string(i), small);
                for (std::size_t k = 0; k != 8; ++k) {
                    show(pool, i * 16 + thread * 8 + k);
                }
            }
            while (resolved < 1000) { // until the others had their turns
                show(*world.find_pool<pool<std::uint64_t>>(mine + "0"), thread);
                std::this_thread::yield();
            }
            --adding;
        } else if (thread == 2) {
            thread_executor executor(2);
            while (adding != 0) {
                world.compact(executor);
                world.stats();
                world.leaks(1);
                std::this_thread::yield();
            }
        } else {
            for (std::size_t i = thread; adding != 0; i += 7) {
                const any_handle handle = handles.look(i);
                const auto guard = world.access();
                if (const std::uint64_t* const object = world.find<std::uint64_t>(handle)) {
                    wrong += *object == handle.pool_id() ? 0 : 1;
                    ++resolved;
                }
                if (i % 5 == 0) {
                    world.erase(handle);
                    wrong += world.contains(handle) ? 1 : 0;
                }
            }
        }
    });
    EXPECT_EQ(wrong, 0);
    world.compact();
    std::uint64_t counted_births = 0;
    std::uint64_t alive = 0;
    std::uint64_t destroyed = 0;
    for (const pool_stats& pool : world.stats().pools) {
        counted_births += pool.created;
        alive += pool.alive;
        destroyed += pool.destroyed;
    }
    EXPECT_EQ(counted_births, created);
    EXPECT_EQ(created, alive + destroyed);
}

/// Pools come and go; what `look` does in other threads meanwhile must be safe.
void while_pools_come_and_go(const std::function<void(service&, any_handle)>& look) {
    service world;
    board handles;
    std::atomic<bool> done = false;
    in_threads(3, [&](std::size_t thread) {
        if (thread == 0) {
            for (std::size_t round = 0; round != 2000; ++round) {
                auto& pool = world.add<handlepool::pool<int>>("pool", {.capacity = 10});
                for (std::size_t i = 0; i != 4; ++i) {
                    handles.show(round * 4 + i, pool.emplace(7));
                }
                world.remove_pool("pool");
                world.compact();
            }
            done = true;
        } else {
            for (std::size_t i = thread; !done; ++i) {
                look(world, handles.look(i));
            }
        }
    });
    EXPECT_EQ(world.size(), 0U);
}

TEST(service_threads, pools_are_removed_while_others_use_their_objects_under_a_guard) {
    std::atomic<int> wrong = 0;
    while_pools_come_and_go([&](service& world, any_handle handle) {
        const auto guard = world.access();
        if (const int* const object = world.find<int>(handle)) {
            wrong += *object == 7 ? 0 : 1;
        }
    });
    EXPECT_EQ(wrong, 0);
}

// Whatever a thread does first with a pool that records lives.
TEST(service_threads, are_named_in_records_by_their_first_call) {
    const auto named_as_pool_calls = [] {
        pool<int> other({.name = "other", .capacity = 10, .record_lives = 1});
        return other.life_of(other.emplace(1)).beginning->thread;
    };
    service all;
    pool<int>& ships = all.add<pool<int>>("ships", {.name = "ships", .capacity = 10, .record_lives = 1});
    const auto erased = ships.emplace(1);
    const auto revoked = ships.emplace(2);
    const auto routed = ships.emplace(3);
    std::string names[3];
    std::thread([&] {
        all.erase(erased);
        names[0] = named_as_pool_calls();
    }).join();
    std::thread([&] {
        all.revoke(revoked);
        names[1] = named_as_pool_calls();
    }).join();
    std::thread([&] {
        all.find_any_pool("ships")->erase(routed);
        names[2] = named_as_pool_calls();
    }).join();
    EXPECT_NE(names[0], "");
    EXPECT_EQ(ships.life_of(erased).end->thread, names[0]);
    EXPECT_EQ(ships.life_of(revoked).end->thread, names[1]);
    EXPECT_EQ(ships.life_of(routed).end->thread, names[2]);
}

} // namespace
} // namespace handlepool::test

// SPDX-License-Identifier: MIT

// What destructors do in a pool with spawners, and who calls them.

#include <handlepool/pool.hpp>
#include <handlepool/spawner.hpp>
#include <handlepool/thread_executor.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <iterator>
#include <thread>
#include <vector>

namespace handlepool::test {
namespace {

/// Notes the threads in which objects end.
struct tells_its_thread {
    tells_its_thread() = default;
    tells_its_thread(tells_its_thread&& other) noexcept : moved(false) { other.moved = true; }
    ~tells_its_thread() {
        if (!moved && ended != nullptr) {
            ended->push_back(std::this_thread::get_id());
        }
    }
    bool moved = false;
    static inline std::vector<std::thread::id>* ended = nullptr;
};

// They may use the pool, and the order in which they do must not depend on threads.
TEST(spawned_objects, end_on_the_compacting_thread) {
    constexpr std::size_t count = 20'000; // worth several threads
    pool<tells_its_thread> ships({.name = "ships", .capacity = count, .reuse_delay = 0, .spawners = 1});
    std::vector<handle<tells_its_thread>> made;
    auto spawners = ships.spawners(1);
    for (std::size_t i = 0; i != count; ++i) {
        made.push_back(spawners[0].emplace());
    }
    spawners.close();
    ships.compact();
    spawners = ships.spawners(1);
    spawners[0].erase(made);
    spawners.close();

    std::vector<std::thread::id> ended;
    ended.reserve(count);
    tells_its_thread::ended = &ended;
    thread_executor threads(2);
    ships.compact(threads);
    tells_its_thread::ended = nullptr;
    EXPECT_EQ(ended, std::vector(count, std::this_thread::get_id()));
}

// Else what comes next would depend on how many threads have ever used the pool.
TEST(spawned_objects, are_followed_by_the_same_whatever_threads_have_looked) {
    const auto first_of_a_spawner = [](int threads) {
        pool<int> ships({.name = "ships", .capacity = 10'000, .reuse_delay = 0, .spawners = 1});
        for (int i = 0; i != threads; ++i) {
            // One within the other, so that each has a number of its own.
            std::vector<std::jthread> others;
            for (int k = 0; k <= i; ++k) {
                others.emplace_back([&] { static_cast<void>(ships.access()); });
            }
        }
        auto births = ships.on_birth([&](auto, int& value) {
            if (value == 1) {
                ships.emplace(2);
            }
        });
        auto spawners = ships.spawners(1);
        spawners[0].emplace(1);
        spawners.close();
        ships.compact();
        spawners = ships.spawners(1);
        return spawners[0].emplace(3).index();
    };
    EXPECT_EQ(first_of_a_spawner(8), first_of_a_spawner(0));
}

} // namespace
} // namespace handlepool::test

// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/pool.hpp>
#include <handlepool/service.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <random>

/// What happens in a frame of the examples frame_with_jthread, frame_with_asio and frame_with_tbb: rockets
/// chase ships by handle, and find them gone. Ships and rockets are two pools of a service.

struct ship {
    int hull = 3;
};

struct rocket {
    handlepool::handle<ship> target;
    int fuel = 5;
};

struct frame_world {
    static constexpr int frames = 20;

    handlepool::service pools;
    handlepool::pool<ship>& ships = pools.add<handlepool::pool<ship>>("ships", {.capacity = 10'000});
    handlepool::pool<rocket>& rockets = pools.add<handlepool::pool<rocket>>("rockets", {.capacity = 50'000});
    std::atomic<int> hits = 0;
    std::atomic<int> lost_targets = 0;

    frame_world() {
        for (int i = 0; i < 1000; ++i) {
            ships.emplace();
        }
        pools.compact();
    }

    /// Any thread, for rockets of its own.
    void fly(handlepool::handle<rocket> self, rocket& one) {
        ship* const target = ships.find(one.target);
        if (target == nullptr) {
            ++lost_targets;
            rockets.erase(self);
        } else if (--one.fuel == 0) {
            // Other threads may hit the same ship now: its hull is shared, so it is counted atomically.
            if (std::atomic_ref(target->hull).fetch_sub(1) == 1) {
                ships.erase(one.target);
            }
            ++hits;
            rockets.erase(self);
        }
    }

    /// The same for a part of all rockets.
    void fly(std::size_t first, std::size_t last) {
        for (std::size_t i = first; i != last; ++i) {
            fly(rockets.handle_at(i), rockets.mutable_items()[i]);
        }
    }

    /// Any thread, also while others fly rockets.
    void launch(std::size_t count, unsigned seed) {
        std::mt19937 random(seed);
        const std::size_t targets = ships.items().size();
        for (std::size_t i = 0; i != count && targets != 0; ++i) {
            rockets.emplace(ships.handle_at(random() % targets));
        }
    }

    /// After the compaction: the dense stores are exactly what is alive.
    void render(int frame) {
        const auto intact = std::ranges::count(ships.items(), 3, &ship::hull);
        fmt::print(
            "frame {:2}: {:4} ships, {:4} of them intact, {:4} rockets, {:3} hits, {:3} lost their target\n",
            frame, ships.items().size(), intact, rockets.items().size(), hits.exchange(0),
            lost_targets.exchange(0));
    }
};

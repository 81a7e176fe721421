// SPDX-License-Identifier: MIT

// Planted: a thread that nothing orders with the compactions keeps a T* without an access guard, and writes
// through it while a compaction moves the object. Correct: it holds a guard.
#include "fault.hpp"

#include <handlepool/pool.hpp>

#include <atomic>
#include <cstdio>
#include <thread>

namespace {

struct ship {
    int hull;
};

} // namespace

int main(int argc, char** argv) {
    const bool planted = handlepool::control::is_planted(argc, argv);
    handlepool::pool<ship> ships({.name = "ships", .capacity = 10});
    const auto first = ships.emplace(100);
    const auto second = ships.emplace(100);
    ships.compact();
    ships.erase(first);

    std::atomic<bool> found{false};
    const auto hit = [&] {
        ship* const hit_one = ships.find(second);
        found.store(true, std::memory_order::relaxed);
        hit_one->hull -= 1;
    };
    std::thread outsider([&] {
        if (planted) {
            hit();
        } else {
            const auto guard = ships.access();
            hit();
        }
    });
    while (!found.load(std::memory_order::relaxed)) {
    }
    ships.compact(); // moves the second ship to the first one's place
    outsider.join();
    std::printf("hull %d\n", ships.at(second).hull);
}

// SPDX-License-Identifier: MIT

// Planted: a thread looks an object up while another one has exclusive access to the pool, and moves it.
// Correct: it does so when that one's view has ended.
#include "fault.hpp"

#include <handlepool/exclusive_pool.hpp>
#include <handlepool/pool.hpp>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>

namespace {

struct ship {
    int hull;
};

/// A thread that spins fills the history in which ThreadSanitizer finds where the other access was.
void nap() {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

} // namespace

int main(int argc, char** argv) {
    const bool planted = handlepool::control::is_planted(argc, argv);
    handlepool::pool<ship> ships({.name = "ships", .capacity = 10});
    const auto lookup = ships.lookup(); // made before, as a look-up of the pool itself ends a checked build
    const auto first = ships.emplace(100);
    const auto second = ships.emplace(100);

    std::atomic<bool> view_lives{false};
    std::atomic<bool> view_ended{false};
    std::thread outsider([&] {
        while (!view_lives.load(std::memory_order::relaxed)) {
            nap();
        }
        if (!planted) {
            while (!view_ended.load(std::memory_order::acquire)) {
                nap();
            }
        }
        lookup.find(second)->hull -= 1;
        view_lives.store(false, std::memory_order::relaxed);
    });
    {
        auto alone = ships.exclusive_access();
        alone.emplace(100);
        view_lives.store(true, std::memory_order::relaxed);
        while (planted && view_lives.load(std::memory_order::relaxed)) {
            nap();
        }
        alone.erase(first); // moves the last one
        alone.at(second).hull += 1;
    }
    view_ended.store(true, std::memory_order::release);
    outsider.join();
    std::printf("hull %d\n", ships.at(second).hull);
}

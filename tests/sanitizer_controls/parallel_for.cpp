// SPDX-License-Identifier: MIT

// Planted: two bodies of a oneTBB loop add to one number. Correct: each has its own, which the loop's caller
// reads when the loop has ended; that is reported too when oneTBB itself is built without ThreadSanitizer.
#include "fault.hpp"

#include <handlepool/pool.hpp>

#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/partitioner.h>
#include <tbb/task_arena.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <thread>

namespace {

struct ship {
    int hull;
};

/// Waits until both threads have come here, which orders nothing. Naps: what a thread does while it spins
/// would fill the history in which ThreadSanitizer looks for the other access.
void meet(std::atomic<int>& arrived) {
    arrived.fetch_add(1, std::memory_order::relaxed);
    while (arrived.load(std::memory_order::relaxed) < 2) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

} // namespace

int main(int argc, char** argv) {
    const bool planted = handlepool::control::is_planted(argc, argv);
    handlepool::pool<ship> ships({.name = "ships", .capacity = 10});
    ships.emplace(100);
    ships.emplace(100);
    ships.compact();

    // Two bodies in two threads, also on one core: each waits for the other, before and after.
    const tbb::global_control two(tbb::global_control::max_allowed_parallelism, 2);
    tbb::task_arena arena(2);
    std::atomic<int> begun{0};
    std::atomic<int> done{0};
    std::array<int, 2> sums{};
    arena.execute([&] {
        tbb::parallel_for(
            std::size_t{0}, ships.items().size(),
            [&](std::size_t position) {
                meet(begun);
                // Often, and apart: two accesses at the very same moment can escape ThreadSanitizer.
                for (int i = 0; i < 30; ++i) {
                    sums[planted ? 0 : position] += ships.mutable_items()[position].hull;
                    std::this_thread::sleep_for(std::chrono::microseconds(200 + 150 * position));
                }
                meet(done);
            },
            tbb::simple_partitioner());
    });
    std::printf("hulls %d\n", sums[0] + sums[1]);
}

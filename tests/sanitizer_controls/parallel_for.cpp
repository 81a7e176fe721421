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
#include <cstddef>
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
    ships.emplace(100);
    ships.emplace(100);
    ships.compact();

    // Two bodies in two threads, also on one core: each waits for the other, which orders nothing.
    const tbb::global_control two(tbb::global_control::max_allowed_parallelism, 2);
    tbb::task_arena arena(2);
    std::atomic<int> arrived{0};
    std::array<int, 2> sums{};
    arena.execute([&] {
        tbb::parallel_for(
            std::size_t{0}, ships.items().size(),
            [&](std::size_t position) {
                arrived.fetch_add(1, std::memory_order::relaxed);
                while (arrived.load(std::memory_order::relaxed) < 2) {
                    std::this_thread::yield();
                }
                // Often: two accesses at the very same moment can escape ThreadSanitizer.
                for (int i = 0; i < 1000; ++i) {
                    sums[planted ? 0 : position] += ships.mutable_items()[position].hull;
                }
            },
            tbb::simple_partitioner());
    });
    std::printf("hulls %d\n", sums[0] + sums[1]);
}

// SPDX-License-Identifier: MIT

// Frames on plain threads: each worker simulates its part of the world, and the last of them to finish
// compacts and renders, while the others wait at the barrier.

#include "frame_world.hpp"

#include <barrier>
#include <thread>
#include <vector>

int main() {
    constexpr unsigned workers = 2;
    frame_world world;

    int frame = 0;
    std::barrier end_of_frame(workers, [&]() noexcept {
        world.pools.compact();
        world.render(frame);
        ++frame;
    });

    const auto work = [&](unsigned worker) {
        while (frame < frame_world::frames) {
            const auto part = [&](unsigned of) { return world.rockets.items().size() * of / workers; };
            world.fly(part(worker), part(worker + 1));
            world.launch(100, workers * static_cast<unsigned>(frame) + worker);
            end_of_frame.arrive_and_wait();
        }
    };
    std::vector<std::jthread> threads;
    for (unsigned worker = 0; worker != workers; ++worker) {
        threads.emplace_back(work, worker);
    }
}

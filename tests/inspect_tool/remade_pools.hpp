// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/pool.hpp>

#include <chrono>
#include <random>
#include <stop_token>
#include <thread>
#include <vector>

namespace handlepool::inspect_tool {

/// While it lives, threads make pools of the name "one" with 500 objects, and end them again: so that one or
/// the other gets the place of another.
class remade_pools {
public:
    remade_pools() {
        for (const unsigned seed : {1U, 2U, 3U}) {
            threads_.emplace_back([seed](const std::stop_token& stop) { remake(stop, seed); });
        }
    }

private:
    static void remake(const std::stop_token& stop, unsigned seed) {
        std::mt19937 random(seed);
        while (!stop.stop_requested()) {
            pool<int> one({.name = "one", .capacity = 1000});
            std::this_thread::sleep_for(
                std::chrono::microseconds(random() % 3000)); // it has less than the last
            for (int i = 0; i != 500; ++i) {
                one.emplace();
            }
            one.compact();
            std::this_thread::sleep_for(std::chrono::microseconds(random() % 3000));
        }
    }

    std::vector<std::jthread> threads_;
};

} // namespace handlepool::inspect_tool

// SPDX-License-Identifier: MIT
#include <handlepool/pool.hpp>
#include <handlepool/snapshots/replica.hpp>
#include <handlepool/snapshots/snapshot.hpp>
#include <handlepool/zeromq/zeromq_follower.hpp>
#include <handlepool/zeromq/zeromq_publisher.hpp>

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <system_error>
#include <vector>

int main() {
    int score = 7;
    handlepool::snapshot game;
    game.add("score", score);
    std::vector<std::byte> bytes;
    game.save(bytes);
    handlepool::zeromq_publisher publisher({.deltas = "tcp://127.0.0.1:*", .snapshots = "tcp://127.0.0.1:*"});
    publisher.begin(0, bytes);

    int followed = 0;
    handlepool::replica world;
    world.add("score", followed);
    handlepool::zeromq_follower follower(publisher.endpoints());
    if (!follower.follow(world, std::chrono::minutes(1)) || followed != score) {
        return 1;
    }
    try {
        handlepool::zeromq_publisher second(publisher.endpoints());
        return 1;
    } catch (const std::system_error& error) { // is known to the library and to the program
        std::printf("%s\n", error.what());
    }
    return 0;
}

// SPDX-License-Identifier: MIT
#include <handlepool/redis/redis_follower.hpp>
#include <handlepool/redis/redis_publisher.hpp>

#include <chrono>
#include <cstdio>
#include <stdexcept>

int main() {
    // There is no server, which is no error of the program.
    handlepool::redis_follower follower({.path = "no server"}, "a game");
    if (follower.next(std::chrono::milliseconds(1)) || follower.problem().empty()) {
        return 1;
    }
    std::printf("%s\n", follower.problem().c_str());
    handlepool::redis_publisher publisher({.path = "no server"}, "a game",
                                          {.token = 1, .id = "1-x", .time_to_live = std::chrono::seconds(1)});
    try {
        publisher.append({});
        return 1;
    } catch (const std::logic_error& error) {
        std::printf("%s\n", error.what());
    }
    return 0;
}

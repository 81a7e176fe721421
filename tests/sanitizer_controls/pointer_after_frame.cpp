// SPDX-License-Identifier: MIT

// Planted: a T* is used in the frame after its own, when compaction has moved the object. Correct: the object
// is looked up again.
#include "fault.hpp"

#include <handlepool/pool.hpp>

#include <cstdio>

namespace {

struct ship {
    int owner;
    int hull;
};

} // namespace

int main(int argc, char** argv) {
    const bool planted = handlepool::control::is_planted(argc, argv);
    handlepool::pool<ship> ships({.name = "ships", .capacity = 10});
    const auto first = ships.emplace(1, 100);
    const auto second = ships.emplace(2, 100);
    ships.compact();

    const ship* kept = ships.find(second);
    ships.erase(first);
    ships.compact(); // moves the second ship to the first one's place
    if (!planted) {
        kept = ships.find(second);
    }
    std::printf("hull %d\n", kept->hull);
}

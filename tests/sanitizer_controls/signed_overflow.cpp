// SPDX-License-Identifier: MIT

// Planted: a signed number overflows. Correct: it doesn't.
#include "fault.hpp"

#include <handlepool/pool.hpp>

#include <cstdio>
#include <limits>

namespace {

struct ship {
    int hull;
};

} // namespace

int main(int argc, char** argv) {
    const bool planted = handlepool::control::is_planted(argc, argv);
    handlepool::pool<ship> ships({.name = "ships", .capacity = 10});
    ship& mine = ships.at(ships.emplace(planted ? std::numeric_limits<int>::max() : 100));
    mine.hull += 1;
    std::printf("hull %d\n", mine.hull);
}

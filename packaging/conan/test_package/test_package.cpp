// SPDX-License-Identifier: MIT
#include <handlepool/pool.hpp>

#include <cstdio>

int main() {
    handlepool::pool<int> numbers({.name = "numbers", .capacity = 10});
    const auto handle = numbers.emplace(7);
    numbers.compact();
    std::printf("%d\n", numbers.at(handle));
    return numbers.size() == 1 ? 0 : 1;
}

// SPDX-License-Identifier: MIT
#include <handlepool/pool.hpp>

int main() {
    handlepool::pool<int> numbers({.name = "numbers", .capacity = 10});
    return numbers.at(numbers.emplace(7)) == 7 ? 0 : 1;
}

// SPDX-License-Identifier: MIT

// Nothing of the library but the header that tools/amalgamate made.
#define HANDLEPOOL_IMPLEMENTATION
#include "handlepool.hpp"

#include <cstdio>
#include <thread>

int count_in_another_file(handlepool::pool<int>& numbers);

int main() {
    handlepool::pool<int> numbers({.name = "numbers", .capacity = 1000});
    const auto first = numbers.emplace(1);
    {
        const std::jthread other([&numbers] {
            for (int i = 2; i <= 100; ++i) {
                numbers.emplace(i);
            }
        });
    }
    handlepool::handle_map<int, int> squares;
    squares.insert_or_assign(first, 1);
    numbers.compact();
    const int count = count_in_another_file(numbers);
    numbers.erase(first);
    numbers.compact();
    try {
        numbers.at(first);
    } catch (const handlepool::stale_handle& error) {
        std::printf("%d numbers, then %zu: %s\n", count, numbers.size(), error.what());
    }
    return count == 100 && numbers.size() == 99 ? 0 : 1;
}

// SPDX-License-Identifier: MIT
#include "handlepool.hpp"

int count_in_another_file(handlepool::pool<int>& numbers) {
    int count = 0;
    for (const int each : numbers.items()) {
        count += each > 0 ? 1 : 0;
    }
    return count;
}

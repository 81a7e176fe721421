// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdlib>

namespace handlepool::support {

/// How often a test repeats what it repeats `often` times elsewhere: where threads start or take turns
/// slowly, as under an emulator, the environment's HANDLEPOOL_TEST_DIVISOR says by what that is divided.
inline int repetitions(int often) {
    const char* const text = std::getenv("HANDLEPOOL_TEST_DIVISOR");
    const int divisor = text == nullptr ? 1 : std::atoi(text);
    return std::max(often / std::max(divisor, 1), 1);
}

} // namespace handlepool::support

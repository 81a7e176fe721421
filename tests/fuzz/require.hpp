// SPDX-License-Identifier: MIT
#pragma once

#include <cstdio>
#include <cstdlib>

namespace handlepool::fuzz {

/// Ends the program unless that is so: the fuzzer then keeps what it was given.
inline void require(bool holds, const char* what) {
    if (!holds) {
        std::fprintf(stderr, "not so: %s\n", what);
        std::abort();
    }
}

} // namespace handlepool::fuzz

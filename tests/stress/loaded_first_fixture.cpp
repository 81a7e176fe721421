// SPDX-License-Identifier: MIT

// A program to be recorded that allocates nothing before the libraries' constructors, see loaded_first.cpp.

#include "record_fixture.hpp"

#include <cstdlib>

int main() {
    for (int i = 0; i != 100; ++i) {
        void* volatile object = std::malloc(handlepool::stress::fixture::malloc_size);
        std::free(object);
    }
}

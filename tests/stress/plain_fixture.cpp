// SPDX-License-Identifier: MIT

// A program to be recorded that needs libc and nothing else, as those in C: it has no operator new, and
// allocates nothing before the libraries' constructors.

#include "record_fixture.hpp"

#include <cstdlib>

int main() {
    for (int i = 0; i != 100; ++i) {
        void* volatile object = std::malloc(handlepool::stress::fixture::malloc_size);
        std::free(object);
    }
}

// SPDX-License-Identifier: MIT

// An operator new of own_allocator.cpp that doesn't call malloc, and an operator delete that calls free.

#include "own_allocator.hpp"

#include <cstddef>
#include <cstdlib>
#include <new>

void* operator new(std::size_t size) {
    return own_allocate(size);
}

void operator delete(void* address) noexcept {
    std::free(address);
}

void operator delete(void* address, std::size_t) noexcept {
    own_release(address);
}

// SPDX-License-Identifier: MIT

// An allocator that a program to be recorded is linked with. As those that look for errors do, it begins each
// object at a page, behind one that can't be touched; it has malloc and its kin, and nothing that says how
// large an object is.

#include "own_allocator.hpp"

#include <sys/mman.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace {

constexpr std::size_t page = 4096;

struct object {
    std::atomic<void*> address;
    std::size_t size;
};
object objects[std::size_t{1} << 16];
std::atomic<std::size_t> used{0};

std::size_t mapped_size(std::size_t size) {
    return page + (size + page - 1) / page * page;
}

object* find(const void* address) {
    for (std::size_t i = used; i-- != 0;) {
        if (objects[i].address.load() == address) {
            return &objects[i];
        }
    }
    return nullptr;
}

} // namespace

void* own_allocate(std::size_t size) noexcept {
    if (size > SIZE_MAX / 4) {
        return nullptr;
    }
    void* const begin = ::mmap(nullptr, mapped_size(size), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (begin == MAP_FAILED) {
        return nullptr;
    }
    unsigned char* const address = static_cast<unsigned char*>(begin) + page;
    ::mprotect(address, mapped_size(size) - page, PROT_READ | PROT_WRITE);
    object& made = objects[used++];
    made.size = size;
    made.address = address;
    return address;
}

void own_release(void* address) noexcept {
    if (object* const known = find(address); known != nullptr && address != nullptr) {
        known->address = nullptr;
        ::munmap(static_cast<unsigned char*>(address) - page, mapped_size(known->size));
    }
}

extern "C" void* malloc(std::size_t size) noexcept {
    return own_allocate(size);
}

extern "C" void* calloc(std::size_t count, std::size_t size) noexcept {
    std::size_t bytes = 0;
    return __builtin_mul_overflow(count, size, &bytes) ? nullptr : own_allocate(bytes);
}

extern "C" void* realloc(void* address, std::size_t size) noexcept {
    void* const moved = own_allocate(size);
    if (const object* const known = find(address);
        moved != nullptr && address != nullptr && known != nullptr) {
        std::memcpy(moved, address, known->size < size ? known->size : size);
        own_release(address);
    }
    return moved;
}

extern "C" void free(void* address) noexcept {
    own_release(address);
}

// SPDX-License-Identifier: MIT
#include "failing_new.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <new>

namespace {

// Allocations that still succeed: below zero, one has failed.
constexpr std::int64_t plenty = std::numeric_limits<std::int64_t>::max();
constinit std::atomic<std::int64_t> left = plenty;
constinit std::atomic<bool> stays_short = false;

bool fails() noexcept {
    if (left.load() == plenty) {
        return false;
    }
    const std::int64_t before = left.fetch_sub(1);
    return before == 0 || (before < 0 && stays_short.load());
}

void* allocate(std::size_t size, std::size_t alignment) noexcept {
    if (fails()) {
        return nullptr;
    }
    const std::size_t some = size == 0 ? 1 : size;
    return alignment == 0 ? std::malloc(some)
                          : std::aligned_alloc(alignment, (some + alignment - 1) / alignment * alignment);
}

void* allocate_or_throw(std::size_t size, std::size_t alignment) {
    if (void* const memory = allocate(size, alignment)) {
        return memory;
    }
    throw std::bad_alloc();
}

} // namespace

namespace handlepool::test {

void memory_shortage::begin() const noexcept {
    stays_short = kind_ == shortage::from_one_allocation_on;
    left = static_cast<std::int64_t>(allocation_);
}

void memory_shortage::end() noexcept {
    came_ = left.exchange(plenty) < 0;
}

} // namespace handlepool::test

// All of them: a sanitizer has its own for those that are left out, and wants them paired.
void* operator new(std::size_t size) {
    return allocate_or_throw(size, 0);
}
void* operator new[](std::size_t size) {
    return allocate_or_throw(size, 0);
}
void* operator new(std::size_t size, std::align_val_t alignment) {
    return allocate_or_throw(size, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
    return allocate_or_throw(size, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    return allocate(size, 0);
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
    return allocate(size, 0);
}
void* operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
    return allocate(size, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
    return allocate(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept {
    std::free(memory);
}
void operator delete[](void* memory) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
    std::free(memory);
}
void operator delete[](void* memory, std::align_val_t) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
    std::free(memory);
}
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept {
    std::free(memory);
}

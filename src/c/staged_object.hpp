// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <new>

namespace handlepool::c {

/// Memory of a newborn, outside of the pool: its bytes, which the program fills at leisure, may wait there
/// for many frames and be published by another thread, which a place of the nursery could not.
struct staged_memory_deleter {
    std::align_val_t alignment;
    void operator()(void* memory) const noexcept { ::operator delete(memory, alignment); }
};
using staged_memory = std::unique_ptr<void, staged_memory_deleter>;

/// For one object; its bytes are zero. Throws std::bad_alloc.
inline staged_memory stage(std::size_t size, std::size_t alignment) {
    const std::align_val_t aligned{alignment};
    staged_memory memory(::operator new(size, aligned), {aligned});
    std::memset(memory.get(), 0, size);
    return memory;
}

/// What stage() made and the program has kept.
inline staged_memory staged(void* memory, std::size_t alignment) noexcept {
    return staged_memory(memory, {std::align_val_t{alignment}});
}

} // namespace handlepool::c

// SPDX-License-Identifier: MIT

// The recording library: loaded into a program with LD_PRELOAD, it stands between the program and its
// allocator, and writes every allocation and free to the raw log that the recorder has prepared.
//
// An event's place in the log is taken after an allocation has returned and before a free is passed on. So
// for each address the log has allocation, free, next allocation in this order, whatever the threads are.
//
// It runs before constructors and inside any thread, and must not allocate itself: no library but libc is
// used.

#include "preload_log.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace raw_log = handlepool::stress::raw_log;
using handlepool::stress::preload::record;

namespace {

// ---- The allocator behind this library --------------------------------------------------------------------

struct allocator {
    void* (*malloc)(std::size_t);
    void* (*calloc)(std::size_t, std::size_t);
    void* (*realloc)(void*, std::size_t);
    void (*free)(void*);
    int (*posix_memalign)(void**, std::size_t, std::size_t);
    void* (*aligned_alloc)(std::size_t, std::size_t);
    void* (*memalign)(std::size_t, std::size_t);
    void* (*valloc)(std::size_t);
    void* (*pvalloc)(std::size_t);
};

enum class stage { unknown, resolving, known };

allocator real;
std::atomic<stage> real_stage{stage::unknown};

template <class Function>
void resolve(Function*& function, const char* name) {
    function = reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

// Whether `real` can be used. It can't while it is being looked up, because dlsym may allocate.
bool real_is_known() {
    stage seen = real_stage.load(std::memory_order_acquire);
    if (seen == stage::known) {
        return true;
    }
    if (seen == stage::resolving ||
        !real_stage.compare_exchange_strong(seen, stage::resolving, std::memory_order_acquire)) {
        return seen == stage::known;
    }
    resolve(real.malloc, "malloc");
    resolve(real.calloc, "calloc");
    resolve(real.realloc, "realloc");
    resolve(real.free, "free");
    resolve(real.posix_memalign, "posix_memalign");
    resolve(real.aligned_alloc, "aligned_alloc");
    resolve(real.memalign, "memalign");
    resolve(real.valloc, "valloc");
    resolve(real.pvalloc, "pvalloc");
    real_stage.store(stage::known, std::memory_order_release);
    return true;
}

// ---- Memory for what is allocated while the allocator is being looked up: never recorded, never freed -----

class bootstrap_arena {
public:
    void* allocate(std::size_t bytes, std::size_t alignment) {
        if (alignment == 0 || alignment > page || bytes > sizeof(memory_)) {
            errno = ENOMEM;
            return nullptr;
        }
        const std::size_t taken = bytes + alignment; // enough to align within
        const std::size_t start = used_.fetch_add(taken, std::memory_order_relaxed);
        if (start + taken > sizeof(memory_)) {
            errno = ENOMEM;
            return nullptr;
        }
        const auto address = reinterpret_cast<std::uintptr_t>(memory_ + start);
        return memory_ + start + (alignment - address % alignment) % alignment;
    }

    bool contains(const void* address) const {
        const auto at = reinterpret_cast<std::uintptr_t>(address);
        const auto begin = reinterpret_cast<std::uintptr_t>(memory_);
        return at >= begin && at < begin + sizeof(memory_);
    }

    // How many bytes can be read from `address`: at least as many as were allocated there.
    std::size_t readable(const void* address) const {
        return reinterpret_cast<std::uintptr_t>(memory_ + sizeof(memory_)) -
               reinterpret_cast<std::uintptr_t>(address);
    }

private:
    static constexpr std::size_t page = 4096;

    alignas(std::max_align_t) unsigned char memory_[64 * 1024]{};
    std::atomic<std::size_t> used_{};
};

bootstrap_arena arena;

void* moved_out_of_arena(const void* old, std::size_t bytes) {
    void* copy = real_is_known() ? real.malloc(bytes) : arena.allocate(bytes, alignof(std::max_align_t));
    if (copy != nullptr) {
        const std::size_t readable = arena.readable(old);
        std::memcpy(copy, old, bytes < readable ? bytes : readable);
    }
    return copy;
}

void* allocated(void* address, std::size_t size) {
    if (address != nullptr) {
        record(raw_log::kind::allocate, address, size);
    }
    return address;
}

// What `real_call` allocates; it may not be called while the allocator is being looked up.
template <class Call>
void* allocate(std::size_t size, std::size_t alignment, const Call& real_call) {
    return real_is_known() ? allocated(real_call(), size) : arena.allocate(size, alignment);
}

std::size_t page_size() {
    return static_cast<std::size_t>(::getpagesize());
}

} // namespace

// ---- The functions that programs call ---------------------------------------------------------------------

HANDLEPOOL_INTERPOSED void* malloc(std::size_t size) noexcept {
    return allocate(size, alignof(std::max_align_t), [=] { return real.malloc(size); });
}

HANDLEPOOL_INTERPOSED void* calloc(std::size_t count, std::size_t size) noexcept {
    std::size_t bytes = 0;
    if (__builtin_mul_overflow(count, size, &bytes)) {
        errno = ENOMEM;
        return nullptr;
    }
    // The arena's memory is zero, because it is never used again.
    return allocate(bytes, alignof(std::max_align_t), [=] { return real.calloc(count, size); });
}

HANDLEPOOL_INTERPOSED void free(void* address) noexcept {
    if (address == nullptr || arena.contains(address)) {
        return;
    }
    record(raw_log::kind::free, address, 0);
    real.free(address);
}

HANDLEPOOL_INTERPOSED void* realloc(void* address, std::size_t size) noexcept {
    if (address == nullptr) {
        return malloc(size);
    }
    if (arena.contains(address)) {
        return moved_out_of_arena(address, size);
    }
    record(raw_log::kind::free, address, 0);
    void* result = real.realloc(address, size);
    if (result == nullptr && size != 0) {
        record(raw_log::kind::allocate, address, 0); // it failed: the object is still there
    }
    return allocated(result, size);
}

HANDLEPOOL_INTERPOSED void* reallocarray(void* address, std::size_t count, std::size_t size) noexcept {
    std::size_t bytes = 0;
    if (__builtin_mul_overflow(count, size, &bytes)) {
        errno = ENOMEM;
        return nullptr;
    }
    return realloc(address, bytes);
}

HANDLEPOOL_INTERPOSED int posix_memalign(void** result, std::size_t alignment, std::size_t size) noexcept {
    if (!real_is_known()) {
        *result = arena.allocate(size, alignment);
        return *result == nullptr ? ENOMEM : 0;
    }
    const int error = real.posix_memalign(result, alignment, size);
    if (error == 0) {
        allocated(*result, size);
    }
    return error;
}

HANDLEPOOL_INTERPOSED void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
    return allocate(size, alignment, [=] { return real.aligned_alloc(alignment, size); });
}

HANDLEPOOL_INTERPOSED void* memalign(std::size_t alignment, std::size_t size) noexcept {
    return allocate(size, alignment, [=] { return real.memalign(alignment, size); });
}

HANDLEPOOL_INTERPOSED void* valloc(std::size_t size) noexcept {
    return allocate(size, page_size(), [=] { return real.valloc(size); });
}

HANDLEPOOL_INTERPOSED void* pvalloc(std::size_t size) noexcept {
    const std::size_t whole_pages = (size + page_size() - 1) / page_size() * page_size();
    return allocate(whole_pages, page_size(), [=] { return real.pvalloc(size); });
}

// The recording library: loaded into a program with LD_PRELOAD, it stands between the program and its
// allocator, and writes every allocation and free to the raw log that the recorder has prepared.
//
// An event's place in the log is taken after an allocation has returned and before a free is passed on. So
// for each address the log has allocation, free, next allocation in this order, whatever the threads are.
//
// It runs before constructors and inside any thread, and must not allocate itself: no library but libc is
// used.

#include "raw_log.hpp"

#include <dlfcn.h>
#include <malloc.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace raw_log = handlepool::stress::raw_log;

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
        if (alignment > page || bytes > sizeof(memory_)) {
            return nullptr;
        }
        const std::size_t taken = bytes + alignment; // enough to align within
        const std::size_t start = used_.fetch_add(taken, std::memory_order_relaxed);
        if (start + taken > sizeof(memory_)) {
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

// ---- The log ----------------------------------------------------------------------------------------------

// Lives in a page that the kernel zeroes in a forked child: a child never records into its parent's log.
struct log_page {
    std::atomic<raw_log::header*> log;
};

enum class log_stage { unknown, opening, decided };

std::atomic<log_stage> opened{log_stage::unknown};
std::atomic<log_page*> page{nullptr};

// Initial-exec, because the general model allocates at a thread's first access.
[[gnu::tls_model("initial-exec")]] thread_local std::uint32_t thread_number = 0; // plus one; 0 for none yet

std::uint64_t now_ns() {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

void* mapped_or_null(void* address) {
    return address == MAP_FAILED ? nullptr : address;
}

const char* environment(std::string_view name) {
    for (char** entry = environ; *entry != nullptr; ++entry) {
        if (std::strncmp(*entry, name.data(), name.size()) == 0 && (*entry)[name.size()] == '=') {
            return *entry + name.size() + 1;
        }
    }
    return nullptr;
}

// Whether `descriptor` is a raw log; its capacity goes to `capacity`.
bool is_log(int descriptor, std::uint64_t& capacity) {
    struct {
        std::uint64_t magic;
        std::uint64_t capacity;
    } first{};
    static_assert(offsetof(raw_log::header, capacity) == sizeof(first.magic));
    const bool read = ::pread(descriptor, &first, sizeof(first), 0) == static_cast<ssize_t>(sizeof(first));
    capacity = first.capacity;
    return read && first.magic == raw_log::magic;
}

// Maps the log behind `descriptor` and begins to record, if this is the first process to ask. The errno value
// that kept it from doing so goes into the log.
void begin_recording(int descriptor, std::uint64_t capacity) {
    void* file = mapped_or_null(
        ::mmap(nullptr, raw_log::bytes_for(capacity), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0));
    void* own_page = mapped_or_null(
        ::mmap(nullptr, sizeof(log_page), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (file == nullptr || own_page == nullptr ||
        ::madvise(own_page, sizeof(log_page), MADV_WIPEONFORK) != 0) {
        const std::int32_t error = errno;
        // Nothing can be done about a failure to tell of a failure.
        [[maybe_unused]] const ssize_t told =
            ::pwrite(descriptor, &error, sizeof(error), offsetof(raw_log::header, error));
        return;
    }
    auto* log = static_cast<raw_log::header*>(file);
    std::int32_t nobody = 0;
    if (!log->owner.compare_exchange_strong(nobody, ::getpid(), std::memory_order_relaxed)) {
        ::munmap(file, raw_log::bytes_for(capacity));
        return;
    }
    log->start_ns = now_ns();
    static_cast<log_page*>(own_page)->log.store(log, std::memory_order_relaxed);
    page.store(static_cast<log_page*>(own_page), std::memory_order_release);
}

void open_log_once() {
    log_stage seen = opened.load(std::memory_order_acquire);
    // libc sets environ a little after the first allocations of a process may come.
    if (seen != log_stage::unknown || environ == nullptr ||
        !opened.compare_exchange_strong(seen, log_stage::opening, std::memory_order_acquire)) {
        return;
    }
    const int error = errno;
    if (const char* text = environment(raw_log::descriptor_variable)) {
        const int descriptor = std::atoi(text);
        if (std::uint64_t capacity = 0; is_log(descriptor, capacity)) {
            begin_recording(descriptor, capacity);
            ::close(descriptor);
        }
    }
    errno = error;
    opened.store(log_stage::decided, std::memory_order_release);
}

void record(raw_log::kind what, const void* address, std::size_t size) {
    open_log_once();
    log_page* here = page.load(std::memory_order_acquire);
    raw_log::header* log = here == nullptr ? nullptr : here->log.load(std::memory_order_relaxed);
    if (log == nullptr || log->next.load(std::memory_order_relaxed) >= log->capacity) {
        return;
    }
    if (thread_number == 0) {
        thread_number = log->threads.fetch_add(1, std::memory_order_relaxed) + 1;
    }
    // (1) relaxed: whatever hands an address from one thread to another synchronizes them, the allocator too,
    // and operations on one atomic that are ordered like this keep that order.
    const std::uint64_t place = log->next.fetch_add(1, std::memory_order_relaxed);
    if (place >= log->capacity) {
        return;
    }
    raw_log::event& event = reinterpret_cast<raw_log::event*>(log + 1)[place];
    event.time_ns = now_ns();
    event.address = reinterpret_cast<std::uintptr_t>(address);
    event.size = size;
    event.thread = thread_number - 1;
    event.what.store(what, std::memory_order_release); // (2) synchronizes with (3), the recorder's read
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

// ---- What children must not inherit -----------------------------------------------------------------------

// Takes this library, the first of the list, out of LD_PRELOAD: in place, since the environment isn't ours.
void leave_preload_list() {
    for (char** entry = environ; *entry != nullptr; ++entry) {
        constexpr std::string_view name = "LD_PRELOAD=";
        if (std::strncmp(*entry, name.data(), name.size()) != 0) {
            continue;
        }
        char* list = *entry + name.size();
        if (char* rest = std::strchr(list, ':')) {
            std::memmove(list, rest + 1, std::strlen(rest + 1) + 1);
        } else {
            ::unsetenv("LD_PRELOAD");
        }
        return;
    }
}

[[gnu::constructor]] void start() {
    open_log_once();
    if (environment(raw_log::descriptor_variable) != nullptr) {
        leave_preload_list();
        ::unsetenv(raw_log::descriptor_variable);
    }
}

} // namespace

// ---- The functions that programs call ---------------------------------------------------------------------

#define HANDLEPOOL_EXPORT extern "C" [[gnu::visibility("default")]]

HANDLEPOOL_EXPORT void* malloc(std::size_t size) noexcept {
    return allocate(size, alignof(std::max_align_t), [=] { return real.malloc(size); });
}

HANDLEPOOL_EXPORT void* calloc(std::size_t count, std::size_t size) noexcept {
    std::size_t bytes = 0;
    if (__builtin_mul_overflow(count, size, &bytes)) {
        errno = ENOMEM;
        return nullptr;
    }
    // The arena's memory is zero, because it is never used again.
    return allocate(bytes, alignof(std::max_align_t), [=] { return real.calloc(count, size); });
}

HANDLEPOOL_EXPORT void free(void* address) noexcept {
    if (address == nullptr || arena.contains(address)) {
        return;
    }
    record(raw_log::kind::free, address, 0);
    real.free(address);
}

HANDLEPOOL_EXPORT void* realloc(void* address, std::size_t size) noexcept {
    if (address == nullptr) {
        return malloc(size);
    }
    if (arena.contains(address)) {
        return moved_out_of_arena(address, size);
    }
    const std::size_t old_size = ::malloc_usable_size(address);
    record(raw_log::kind::free, address, 0);
    void* result = real.realloc(address, size);
    if (result == nullptr && size != 0) {
        record(raw_log::kind::allocate, address, old_size); // it failed: the old object is still there
    }
    return allocated(result, size);
}

HANDLEPOOL_EXPORT void* reallocarray(void* address, std::size_t count, std::size_t size) noexcept {
    std::size_t bytes = 0;
    if (__builtin_mul_overflow(count, size, &bytes)) {
        errno = ENOMEM;
        return nullptr;
    }
    return realloc(address, bytes);
}

HANDLEPOOL_EXPORT int posix_memalign(void** result, std::size_t alignment, std::size_t size) noexcept {
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

HANDLEPOOL_EXPORT void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
    return allocate(size, alignment, [=] { return real.aligned_alloc(alignment, size); });
}

HANDLEPOOL_EXPORT void* memalign(std::size_t alignment, std::size_t size) noexcept {
    return allocate(size, alignment, [=] { return real.memalign(alignment, size); });
}

HANDLEPOOL_EXPORT void* valloc(std::size_t size) noexcept {
    return allocate(size, page_size(), [=] { return real.valloc(size); });
}

HANDLEPOOL_EXPORT void* pvalloc(std::size_t size) noexcept {
    const std::size_t whole_pages = (size + page_size() - 1) / page_size() * page_size();
    return allocate(whole_pages, page_size(), [=] { return real.pvalloc(size); });
}

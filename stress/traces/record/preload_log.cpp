// SPDX-License-Identifier: MIT
#include "preload_log.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace handlepool::stress::preload {

namespace {

// Lives in a page that the kernel zeroes in a forked child: a child never records into its parent's log.
struct log_page {
    std::atomic<raw_log::header*> log;
};

enum class log_stage { unknown, opening, decided };

std::atomic<log_stage> opened{log_stage::unknown};
std::atomic<log_page*> page{nullptr};

// Initial-exec, because the general model allocates at a thread's first access.
[[gnu::tls_model("initial-exec")]] thread_local std::uint32_t thread_number = 0; // plus one; 0 for none yet
[[gnu::tls_model("initial-exec")]] thread_local std::uint64_t* event_count = nullptr; // see counted_events

std::atomic<bool> reads_counter{true};

class errno_kept {
public:
    errno_kept() = default;
    errno_kept(const errno_kept&) = delete;
    errno_kept& operator=(const errno_kept&) = delete;
    ~errno_kept() { errno = value_; }

private:
    int value_ = errno;
};

std::uint64_t now_ns() {
    timespec now{};
    ::clock_gettime(reads_counter.load(std::memory_order_relaxed) ? CLOCK_MONOTONIC : CLOCK_MONOTONIC_COARSE,
                    &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

// Null too if the environment is not there, or not any more.
const char* environment(std::string_view name) {
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
        if (std::strncmp(*entry, name.data(), name.size()) == 0 && (*entry)[name.size()] == '=') {
            return *entry + name.size() + 1;
        }
    }
    return nullptr;
}

raw_log::header* mapped_log(int descriptor, std::uint64_t bytes) {
    void* address = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    return address == MAP_FAILED ? nullptr : static_cast<raw_log::header*>(address);
}

// Only what lies in memory can be sealed; a program's own descriptors are left alone.
bool is_log(int descriptor) {
    std::uint64_t first = 0;
    return ::fcntl(descriptor, F_GET_SEALS) >= 0 &&
           ::pread(descriptor, &first, sizeof(first), 0) == ssize_t{sizeof(first)} && first == raw_log::magic;
}

// The log's descriptor. A program's libraries may have emptied the environment before: then it is looked for.
int log_descriptor() {
    if (const char* text = environment(raw_log::descriptor_variable)) {
        return std::atoi(text);
    }
    constexpr int most = 1024;
    int descriptor = 0;
    while (descriptor < most && !is_log(descriptor)) {
        ++descriptor;
    }
    return descriptor;
}

// Maps all of the log and begins to record, if this is the process to be recorded: what that starts while it
// is loaded inherits the log too. The errno value that kept it from doing so goes into the log's `head`.
void begin_recording(int descriptor, raw_log::header& head) {
    std::int32_t nobody = 0;
    if (head.process.load(std::memory_order_relaxed) != ::getpid() ||
        !head.owner.compare_exchange_strong(nobody, ::getpid(), std::memory_order_relaxed)) {
        return;
    }
    raw_log::header* log = mapped_log(descriptor, raw_log::spares_at(head));
    void* own = ::mmap(nullptr, sizeof(log_page), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (log == nullptr || own == MAP_FAILED || ::madvise(own, sizeof(log_page), MADV_WIPEONFORK) != 0 ||
        ::madvise(log, raw_log::spares_at(head), MADV_DONTFORK) != 0) { // it ends with this process
        head.error.store(errno, std::memory_order_relaxed);
        return;
    }
    ::madvise(log, raw_log::spares_at(head), MADV_DONTDUMP); // where it can't be left out, a core file has it
    log->start_ns = now_ns();
    static_cast<log_page*>(own)->log.store(log, std::memory_order_relaxed);
    page.store(static_cast<log_page*>(own), std::memory_order_release);
}

void open_log_once() {
    log_stage seen = opened.load(std::memory_order_acquire);
    if (seen != log_stage::unknown ||
        !opened.compare_exchange_strong(seen, log_stage::opening, std::memory_order_acquire)) {
        return;
    }
    const errno_kept kept;
    if (const int descriptor = log_descriptor(); is_log(descriptor)) {
        if (raw_log::header* head = mapped_log(descriptor, sizeof(raw_log::header))) {
            begin_recording(descriptor, *head);
            ::munmap(head, sizeof(raw_log::header));
        }
        ::close(descriptor);
    }
    opened.store(log_stage::decided, std::memory_order_release);
}

raw_log::header* own_log() {
    log_page* here = page.load(std::memory_order_acquire);
    return here == nullptr ? nullptr : here->log.load(std::memory_order_relaxed);
}

// A vfork's child runs in its parent's memory.
raw_log::header* log_of_this_process() {
    raw_log::header* log = own_log();
    return log != nullptr && log->owner.load(std::memory_order_relaxed) == ::getpid() ? log : nullptr;
}

// A program that is faster than the disk waits, lest its events fill the memory: now and then, and never
// long, because the recorder may be gone. It makes no system call for that: it may have forbidden itself all.
void wait_for_recorder(const raw_log::header& log, std::uint64_t place) {
    constexpr std::uint64_t most_in_memory = 256 * raw_log::events_in_step; // 64 MiB
    constexpr std::uint64_t longest_ns = 20'000'000;
    const auto is_behind = [&] {
        return place > log.written.load(std::memory_order_relaxed) + most_in_memory &&
               log.is_full.load(std::memory_order_relaxed) == 0;
    };
    if (is_behind()) {
        for (const std::uint64_t until = now_ns() + longest_ns; is_behind() && now_ns() < until;) {
        }
    }
}

// ---- What children must not inherit -----------------------------------------------------------------------

// Takes this library, the first of the list, out of LD_PRELOAD: in place, since the environment isn't ours.
void leave_preload_list() {
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
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

void count_fork() {
    if (raw_log::header* log = own_log()) {
        log->forks.fetch_add(1, std::memory_order_relaxed);
    }
}

[[gnu::constructor]] void start() {
    open_log_once();
    if (own_log() != nullptr) {
        ::pthread_atfork(nullptr, count_fork, nullptr);
    }
    if (environment(raw_log::descriptor_variable) != nullptr) {
        leave_preload_list();
        ::unsetenv(raw_log::descriptor_variable);
    }
}

} // namespace

void record(raw_log::kind what, const void* address, std::size_t size) {
    if (event_count != nullptr) {
        ++*event_count;
        return;
    }
    // libc sets environ a little after the first allocations of a process may come.
    if (environ != nullptr) {
        open_log_once();
    }
    raw_log::header* log = own_log();
    if (log == nullptr || log->is_full.load(std::memory_order_relaxed) != 0 ||
        raw_log::events_in(*log) == log->capacity) {
        return;
    }
    if (thread_number == 0) {
        thread_number = log->threads.fetch_add(1, std::memory_order_relaxed) + 1;
    }
    const errno_kept kept;
    // (1) relaxed: whatever hands an address from one thread to another synchronizes them, the allocator too,
    // and operations on one atomic that are ordered like this keep that order.
    const std::uint64_t place = log->next.fetch_add(1, std::memory_order_relaxed);
    if (place >= log->capacity) {
        return;
    }
    if (place % raw_log::events_in_step == 0) {
        wait_for_recorder(*log, place);
    }
    raw_log::event& event = raw_log::event_in(*log, place);
    event.time_ns = now_ns();
    event.address = reinterpret_cast<std::uintptr_t>(address);
    event.size = size;
    event.thread = thread_number - 1;
    event.what.store(what, std::memory_order_release); // (2) synchronizes with (3), the recorder's reads
}

void program_will_be_replaced(const char* file) {
    if (raw_log::header* log = log_of_this_process(); log != nullptr && file != nullptr) {
        const std::size_t bytes = std::min(std::strlen(file), sizeof(log->replaced_by) - 1);
        std::memcpy(log->replaced_by, file, bytes);
        log->replaced_by[bytes] = '\0';
        log->replaced_ns.store(now_ns(), std::memory_order_relaxed);
    }
}

void forgo_counter() {
    // Relaxed: whatever starts a thread synchronizes it with its own past.
    reads_counter.store(false, std::memory_order_relaxed);
}

bool is_recorded() {
    open_log_once();
    return own_log() != nullptr;
}

counted_events::counted_events() {
    event_count = &count_;
}

counted_events::~counted_events() {
    event_count = nullptr;
}

void operator_new_calls_no_malloc(const char* library) {
    if (raw_log::header* log = own_log()) {
        std::strncpy(log->new_without_malloc, library, sizeof(log->new_without_malloc) - 1);
    }
}

void program_was_not_replaced() {
    if (raw_log::header* log = log_of_this_process()) {
        log->replaced_ns.store(0, std::memory_order_relaxed);
    }
}

} // namespace handlepool::stress::preload

// SPDX-License-Identifier: MIT

// A program to be recorded. Each of its objects has a size that nothing else in the process uses, so that a
// test can find it in the trace.

#include "record_fixture.hpp"

#include <fcntl.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>

namespace fixture = handlepool::stress::fixture;

namespace {

// Keeps the compiler from removing an allocation.
void* used(void* object) {
    asm volatile("" : : "g"(object) : "memory");
    return object;
}

void allocate_and_free(std::size_t size, int times) {
    for (int i = 0; i < times; ++i) {
        std::free(used(std::malloc(size)));
    }
}

// One thread allocates and the other frees, through a ring of slots.
void cross_threads() {
    static std::array<std::atomic<void*>, 64> ring{};
    std::thread producer([] {
        for (int i = 0; i < fixture::crossing_objects; ++i) {
            std::atomic<void*>& slot = ring[static_cast<std::size_t>(i) % ring.size()];
            while (slot.load(std::memory_order_acquire) != nullptr) {
                std::this_thread::yield();
            }
            slot.store(std::malloc(fixture::crossing_size), std::memory_order_release);
        }
    });
    std::thread consumer([] {
        for (int i = 0; i < fixture::crossing_objects; ++i) {
            std::atomic<void*>& slot = ring[static_cast<std::size_t>(i) % ring.size()];
            void* object = nullptr;
            while ((object = slot.exchange(nullptr, std::memory_order_acq_rel)) == nullptr) {
                std::this_thread::yield();
            }
            std::free(object);
        }
    });
    producer.join();
    consumer.join();
}

// Many threads, one after the other and at the same time, that want the same addresses.
void many_threads() {
    for (int round = 0; round < fixture::rounds; ++round) {
        std::array<std::thread, fixture::threads_in_round> threads;
        for (std::thread& thread : threads) {
            thread = std::thread([] { allocate_and_free(fixture::churned_size, fixture::churned_objects); });
        }
        for (std::thread& thread : threads) {
            thread.join();
        }
    }
}

void call_every_function() {
    std::free(used(std::malloc(fixture::malloc_size)));
    std::free(used(std::calloc(1, fixture::calloc_size)));
    void* grown = used(std::realloc(nullptr, fixture::realloc_from_size));
    std::free(used(std::realloc(grown, fixture::realloc_to_size)));
    std::free(used(::reallocarray(nullptr, 1, fixture::reallocarray_size)));
    void* aligned = nullptr;
    if (::posix_memalign(&aligned, 64, fixture::posix_memalign_size) == 0) {
        std::free(used(aligned));
    }
    std::free(used(std::aligned_alloc(64, fixture::aligned_alloc_size)));
    std::free(nullptr);
    // What fails leaves no event, and a failed realloc leaves the object as it was.
    void* kept = used(std::malloc(fixture::kept_size));
    volatile std::size_t too_much = static_cast<std::size_t>(-1) / 2;
    if (used(std::malloc(too_much)) != nullptr || used(std::calloc(too_much, 4)) != nullptr ||
        std::realloc(kept, too_much) != nullptr) {
        std::abort();
    }
    std::free(kept);
}

// Neither a forked child nor a program it executes may leave anything in the trace.
void fork_children(const char* self) {
    allocate_and_free(fixture::parent_size, 100);
    for (bool executes : {false, true}) {
        const pid_t child = ::fork();
        if (child == 0) {
            allocate_and_free(fixture::child_size, 100);
            if (executes) {
                ::execl(self, self, "child", static_cast<char*>(nullptr));
            }
            ::_exit(0);
        }
        int status = 0;
        if (::waitpid(child, &status, 0) != child || status != 0) {
            std::abort();
        }
    }
    allocate_and_free(fixture::parent_size, 100);
}

// A child goes on in the background.
void become_a_daemon() {
    allocate_and_free(fixture::parent_size, 100);
    if (::daemon(1, 1) != 0) {
        std::abort();
    }
    allocate_and_free(fixture::child_size, 100);
}

// A recorder that is killed leaves a program that goes on.
void outlive_recorder(const char* marker) {
    allocate_and_free(fixture::parent_size, 100);
    const pid_t recorder = ::getppid();
    ::kill(recorder, SIGKILL);
    while (::getppid() == recorder) {
        std::this_thread::yield();
    }
    allocate_and_free(fixture::parent_size, 100);
    std::fclose(std::fopen(marker, "w"));
}

// Nothing that a program may give up may be what its recording needs.
void give_everything_up() {
    for (int file = 3; file < 1024; ++file) {
        ::close(file);
    }
    if (::chroot("/proc") != 0 || ::chdir("/") != 0 || ::setuid(65534) != 0) {
        std::abort(); // needs root
    }
    allocate_and_free(fixture::many_size, fixture::many_objects);
}

// For so long that the recorder sees what is made.
void rest_at(int i) {
    if (i % 1000 == 0) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
}

void grow_in_threads() {
    std::array<std::thread, 4> threads;
    for (std::thread& thread : threads) {
        thread = std::thread([] {
            for (int i = 0; i < fixture::many_objects; ++i) {
                allocate_and_free(fixture::many_size, 1);
                rest_at(i);
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
}

// Sizes without a rule: their trace can hardly be compressed.
void grow_without_a_rule() {
    std::array<void*, 256> objects{};
    std::uint32_t random = 1;
    for (int i = 0; i < 4 * fixture::many_objects; ++i) {
        random = random * 1'664'525 + 1'013'904'223;
        void*& object = objects[random >> 24];
        std::free(object);
        object = used(std::malloc((random >> 8) % 60'000));
        rest_at(i);
    }
}

// The recorder's other processes are killed.
void outlive_helpers() {
    const std::string recorder = std::to_string(::getppid());
    std::ifstream children("/proc/" + recorder + "/task/" + recorder + "/children");
    for (pid_t child = 0; children >> child;) {
        if (child != ::getpid()) {
            ::kill(child, SIGKILL);
        }
    }
    grow_in_threads();
}

// Only read, write and _exit are left after this.
[[noreturn]] void forbid_system_calls(std::string_view how) {
    allocate_and_free(fixture::many_size, 1);
    const long result = how == "prctl"           ? ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT)
                        : how == "syscall prctl" ? ::syscall(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_STRICT)
                        : how == "syscall seccomp"
                            ? ::syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 0, nullptr)
                            : -1;
    if (result != 0) {
        std::abort();
    }
    allocate_and_free(fixture::many_size, fixture::many_objects - 1);
    ::syscall(SYS_exit, 7);
    std::abort();
}

// A thread and those that it starts do without the processor's counter. Some processors can't forbid it.
void forbid_counter(std::string_view how) {
    if (how == "prctl") {
        ::prctl(PR_SET_TSC, PR_TSC_SIGSEGV);
    } else {
        ::syscall(SYS_prctl, PR_SET_TSC, PR_TSC_SIGSEGV);
    }
    std::thread([] { allocate_and_free(fixture::many_size, fixture::many_objects); }).join();
}

// What is in the memory of the log need not be in a core file: "dd" says so.
bool log_would_be_in_a_core_file() {
    std::ifstream mappings("/proc/self/smaps");
    std::string line;
    bool is_log = false;
    while (std::getline(mappings, line)) {
        is_log = is_log || line.find("handlepool recording") != std::string::npos;
        if (is_log && line.starts_with("VmFlags:")) {
            return line.find(" dd") == std::string::npos;
        }
    }
    return true;
}

// Becomes itself, as a child, by each of the functions.
void replace_self(std::string_view how, const char* self) {
    allocate_and_free(fixture::parent_size, 100);
    char* const arguments[] = {const_cast<char*>(self), const_cast<char*>("child"), nullptr};
    char* const nothing[] = {nullptr};
    const char* const name = std::strrchr(self, '/') + 1; // is looked for in the folders of PATH
    ::setenv("PATH", std::string(self, name).c_str(), 1);
    if (how == "execve") {
        ::execve(self, arguments, nothing);
    } else if (how == "execv") {
        ::execv(self, arguments);
    } else if (how == "execvp") {
        ::execvp(name, arguments);
    } else if (how == "execvpe") {
        ::execvpe(name, arguments, nothing);
    } else if (how == "execl") {
        ::execl(self, self, "child", nullptr);
    } else if (how == "execlp") {
        ::execlp(name, self, "child", nullptr);
    } else if (how == "execle") {
        ::execle(self, self, "child", nullptr, nothing);
    } else if (how == "fexecve") {
        ::fexecve(::open(self, O_RDONLY | O_CLOEXEC), arguments, nothing);
    } else if (how == "execveat") {
        ::execveat(AT_FDCWD, self, arguments, nothing, 0);
    }
    std::abort();
}

template <class... Parameters, class... Arguments>
void expect_error(int error, int (*function)(Parameters...), Arguments... arguments) {
    errno = 0;
    if (function(arguments...) != -1 || errno != error) {
        std::abort();
    }
}

// Null pointers are errors of the functions behind.
void replace_by_nothing() {
    char* const none[] = {nullptr};
    char* const* const null = nullptr;
    expect_error(EFAULT, ::execve, nullptr, none, none);
    expect_error(EFAULT, ::execv, nullptr, none);
    expect_error(EINVAL, ::fexecve, -1, null, none);
    expect_error(EINVAL, ::fexecve, -1, none, null);
    expect_error(EFAULT, ::execveat, AT_FDCWD, nullptr, none, none, 0);
    expect_error(ENOENT, ::execveat, AT_FDCWD, "", null, none, 0);
    const char* volatile no_argument = nullptr;
    if (::execl("/nonexistent", no_argument, nullptr) != -1 || errno != ENOENT) {
        std::abort();
    }
}

// Neither a call that fails nor a child that becomes another program, be it in its parent's memory, is the
// end of this one.
void replace_in_vain(const char* self) {
    if (::execl("/nonexistent", "nonexistent", nullptr) != -1 || errno != ENOENT) {
        std::abort();
    }
    replace_by_nothing();
    const pid_t child = ::vfork();
    if (child == 0) {
        ::execl(self, self, "child", nullptr);
        ::_exit(1);
    }
    int status = 0;
    if (::waitpid(child, &status, 0) != child || status != 0) {
        std::abort();
    }
    allocate_and_free(fixture::parent_size, 100);
}

int run(std::string_view what, const char* self, const char* more) {
    if (what == "cross") {
        cross_threads();
    } else if (what == "many") {
        many_threads();
    } else if (what == "functions") {
        call_every_function();
    } else if (what == "fork") {
        fork_children(self);
    } else if (what == "grow") {
        grow_in_threads();
    } else if (what == "grow_without_a_rule") {
        grow_without_a_rule();
    } else if (what == "give_up") {
        give_everything_up();
    } else if (what == "daemon") {
        become_a_daemon();
    } else if (what == "outlive") {
        outlive_recorder(more);
    } else if (what == "replace") {
        replace_self(more, self);
    } else if (what == "replace_in_vain") {
        replace_in_vain(self);
    } else if (what == "outlive_helpers") {
        outlive_helpers();
    } else if (what == "forbid_system_calls") {
        forbid_system_calls(more);
    } else if (what == "forbid_counter") {
        forbid_counter(more);
    } else if (what == "look_at_log") {
        return log_would_be_in_a_core_file() ? 1 : 0;
    } else if (what == "child") {
        return std::getenv("LD_PRELOAD") != nullptr;
    } else {
        allocate_and_free(fixture::malloc_size, 100);
    }
    if (what == "fail") {
        return 3;
    }
    if (what == "exit") {
        std::exit(4);
    }
    if (what == "_exit") {
        ::_exit(5);
    }
    if (what == "quick_exit") {
        std::quick_exit(6);
    }
    if (what == "kill") {
        ::raise(SIGKILL);
    }
    if (what == "kill_group") {
        ::kill(0, SIGKILL);
    }
    if (what == "end_recorder") {
        ::kill(::getppid(), std::atoi(more));
        while (true) {
            ::pause();
        }
    }
    return 0;
}

// Allocates before main, and frees after it.
struct early {
    void* object = used(std::malloc(fixture::early_size));
    ~early() { std::free(object); }
} before_main;

} // namespace

int main(int argc, char** argv) {
    allocate_and_free(fixture::child_size, argc > 1 && std::strcmp(argv[1], "child") == 0 ? 100 : 0);
    return run(argc > 1 ? argv[1] : "", argv[0], argc > 2 ? argv[2] : "");
}

// A program to be recorded. Each of its objects has a size that nothing else in the process uses, so that a
// test can find it in the trace.

#include "record_fixture.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
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

int run(std::string_view what, const char* self) {
    if (what == "cross") {
        cross_threads();
    } else if (what == "many") {
        many_threads();
    } else if (what == "functions") {
        call_every_function();
    } else if (what == "fork") {
        fork_children(self);
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
    return run(argc > 1 ? argv[1] : "", argv[0]);
}

// SPDX-License-Identifier: MIT
#include "../threads/thread_slot.hpp"

#include <pthread.h>
#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include <atomic>

namespace handlepool::detail::this_thread {

namespace {

// Nobody else's symbol stands for it, where that may happen to known alone: a linker can be told to
// hide some names of a module and not others.
constinit thread_local std::uint32_t own_word = 0;

// A key's destructor runs after those of all thread_local objects, and again when one of them, or another
// key's, made the thread take a number once more.
void call_thread_ends(void* word_as_pointer) {
    own_word = 0;
    thread_ends(static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(word_as_pointer)));
}

// Made before main, and before objects of static storage duration, so that no thread waits for another to
// make it. Deleted with the module: threads that end later would call into what is no longer there. Without
// a key numbers are not given back, and the pool says so when it runs out of shards.
class exit_key {
public:
    exit_key() noexcept : made_(pthread_key_create(&key_, call_thread_ends) == 0) {}
    ~exit_key() {
        if (made_.exchange(false, std::memory_order::relaxed)) {
            pthread_key_delete(key_);
        }
    }

    exit_key(const exit_key&) = delete;
    exit_key& operator=(const exit_key&) = delete;

    void call_back_with(std::uint32_t word) const noexcept {
        if (made_.load(std::memory_order::relaxed)) {
            pthread_setspecific(key_, reinterpret_cast<void*>(static_cast<std::uintptr_t>(word)));
        }
    }

private:
    pthread_key_t key_{};
    std::atomic<bool> made_;
};
[[gnu::init_priority(101)]] const exit_key thread_exit;

} // namespace

std::uint32_t kept_word() noexcept {
    return own_word;
}

void keep_word(std::uint32_t word) noexcept {
    own_word = word;
    thread_exit.call_back_with(word);
}

std::uint32_t system_thread() noexcept {
#if defined(__linux__)
    return static_cast<std::uint32_t>(syscall(SYS_gettid));
#else
    return 0;
#endif
}

} // namespace handlepool::detail::this_thread

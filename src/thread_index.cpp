#include <handlepool/thread_index.hpp>
#include <handlepool/thread_index_set.hpp>

#include <pthread.h>

#include <atomic>
#include <cstdint>

namespace handlepool::this_thread {

namespace {

constinit thread_index_set<std::atomic, thread_index_limit / 64> indices;

// A key's destructor runs after those of all thread_local objects, and again when one of them, or another
// key's, made the thread take a number once more.
void give_back(void* index_plus_one_as_pointer) {
    const auto index =
        static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(index_plus_one_as_pointer)) - 1;
    index_plus_one = 0;
    indices.give_back(index);
}

// Made before main, and before objects of static storage duration, so that no thread waits for another to
// make it.
struct exit_key {
    // Without a key numbers are not given back, and the pool says so when it runs out of lanes.
    exit_key() noexcept : made(pthread_key_create(&key, give_back) == 0) {}

    void call_back_with(std::uint32_t index_plus_one) const noexcept {
        if (made) {
            pthread_setspecific(key, reinterpret_cast<void*>(static_cast<std::uintptr_t>(index_plus_one)));
        }
    }

    pthread_key_t key{};
    bool made;
};
[[gnu::init_priority(101)]] const exit_key thread_exit;

} // namespace

std::uint32_t claim_index() noexcept {
    const std::uint32_t index = indices.claim();
    if (index != thread_index_limit) {
        index_plus_one = index + 1;
        thread_exit.call_back_with(index + 1);
    }
    return index;
}

} // namespace handlepool::this_thread

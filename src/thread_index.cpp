#include <handlepool/detail/process_state.hpp>
#include <handlepool/detail/thread_index.hpp>

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstdint>
#include <thread>

namespace handlepool::detail::this_thread {

namespace {

// A number fits below the identity, which is the address of the numbering without the bits that are 0 in
// each.
constexpr unsigned number_bits = 17;
constexpr unsigned zero_bits = std::countr_zero(alignof(process_state));
static_assert(thread_index_limit < (1U << number_bits) && zero_bits <= number_bits);

// The calling thread's number + 1 in this copy of the library. Nobody else's symbol stands for it, where that
// may happen to number_word alone: a linker can be told to hide some names of a module and not others.
constinit thread_local std::uint32_t own_number_plus_one = 0;

// A key's destructor runs after those of all thread_local objects, and again when one of them, or another
// key's, made the thread take a number once more.
void give_back(void* index_plus_one_as_pointer) {
    const auto index =
        static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(index_plus_one_as_pointer)) - 1;
    number_word = 0;
    own_number_plus_one = 0;
    this_process.thread_indices.give_back(index);
}

// Made before main, and before objects of static storage duration, so that no thread waits for another to
// make it. Deleted with the module: threads that end later would call into what is no longer there. Without
// a key numbers are not given back, and the pool says so when it runs out of lanes.
class exit_key {
public:
    exit_key() noexcept : made_(pthread_key_create(&key_, give_back) == 0) {}
    ~exit_key() {
        if (made_.exchange(false, std::memory_order::relaxed)) {
            pthread_key_delete(key_);
        }
    }

    exit_key(const exit_key&) = delete;
    exit_key& operator=(const exit_key&) = delete;

    void call_back_with(std::uint32_t index_plus_one) const noexcept {
        if (made_.load(std::memory_order::relaxed)) {
            pthread_setspecific(key_, reinterpret_cast<void*>(static_cast<std::uintptr_t>(index_plus_one)));
        }
    }

private:
    pthread_key_t key_{};
    std::atomic<bool> made_;
};
[[gnu::init_priority(101)]] const exit_key thread_exit;

} // namespace

std::uint64_t numbering() noexcept {
    return static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(&this_process))
           << (number_bits - zero_bits);
}

std::uint32_t claim_index(std::uint64_t wanted) noexcept {
    const std::uint64_t mine = numbering();
    if (wanted != mine) {
        return foreign_thread_index;
    }
    if (own_number_plus_one == 0) {
        const std::uint32_t index = this_process.thread_indices.claim();
        if (index == thread_index_limit) {
            return index;
        }
        own_number_plus_one = index + 1;
        thread_exit.call_back_with(index + 1);
    }
    number_word = mine + own_number_plus_one;
    return own_number_plus_one - 1;
}

void wait(std::uint64_t waited) noexcept {
    constexpr std::uint64_t awake = 50'000; // nanoseconds; a sleep takes about as long at the least
    constexpr std::uint64_t longest_sleep = 4'000'000;
    if (waited < awake) {
        std::this_thread::yield();
    } else {
        std::this_thread::sleep_for(std::chrono::nanoseconds(std::min(waited / 8, longest_sleep)));
    }
}

} // namespace handlepool::detail::this_thread

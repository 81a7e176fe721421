#include <handlepool/thread_index.hpp>

#include <pthread.h>

#include <array>
#include <atomic>
#include <bit>

namespace handlepool::this_thread {

namespace {

// One bit a number, set while a thread has it. Lock-free, so that a thread stopped in here blocks no other.
constinit std::array<std::atomic<std::uint64_t>, thread_index_limit / 64> taken{};

// A key's destructor runs after those of all thread_local objects, and again when one of them, or another
// key's, made the thread take a number once more.
void give_back(void* index_plus_one_as_pointer) {
    const auto index =
        static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(index_plus_one_as_pointer)) - 1;
    index_plus_one = 0;
    // (20) release: pairs with (21), the next owner of the number
    taken[index / 64].fetch_and(~(std::uint64_t{1} << (index % 64)), std::memory_order::release);
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
    for (std::uint32_t word = 0; word < taken.size(); ++word) {
        std::uint64_t bits = taken[word].load(std::memory_order::relaxed);
        while (bits != ~std::uint64_t{0}) {
            const auto bit = static_cast<std::uint32_t>(std::countr_one(bits));
            // (21) acquire: pairs with (20), the former owner of the number
            bits = taken[word].fetch_or(std::uint64_t{1} << bit, std::memory_order::acquire);
            if ((bits >> bit & 1) == 0) {
                const std::uint32_t index = word * 64 + bit;
                index_plus_one = index + 1;
                thread_exit.call_back_with(index + 1);
                return index;
            }
        }
    }
    return thread_index_limit;
}

} // namespace handlepool::this_thread

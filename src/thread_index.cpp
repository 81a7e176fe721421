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

pthread_key_t make_key() {
    pthread_key_t key{};
    // Without a key numbers are not given back, and the pool says so when it runs out of lanes.
    return pthread_key_create(&key, give_back) == 0 ? key : static_cast<pthread_key_t>(-1);
}

} // namespace

std::uint32_t claim_index() noexcept {
    static const pthread_key_t key = make_key();
    for (std::uint32_t word = 0; word < taken.size(); ++word) {
        std::uint64_t bits = taken[word].load(std::memory_order::relaxed);
        while (bits != ~std::uint64_t{0}) {
            const auto bit = static_cast<std::uint32_t>(std::countr_one(bits));
            // (21) acquire: pairs with (20), the former owner of the number
            bits = taken[word].fetch_or(std::uint64_t{1} << bit, std::memory_order::acquire);
            if ((bits >> bit & 1) == 0) {
                const std::uint32_t index = word * 64 + bit;
                index_plus_one = index + 1;
                pthread_setspecific(key, reinterpret_cast<void*>(static_cast<std::uintptr_t>(index) + 1));
                return index;
            }
        }
    }
    return thread_index_limit;
}

} // namespace handlepool::this_thread

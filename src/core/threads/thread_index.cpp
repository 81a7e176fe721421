// SPDX-License-Identifier: MIT
#include "../process/at_fork.hpp"
#include "../process/process_state.hpp"
#include "thread_slot.hpp"

#include <handlepool/detail/threads/thread_index.hpp>

#include <algorithm>
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

void note_system_thread(std::uint32_t index) noexcept {
    this_process.system_threads[index].store(system_thread(), std::memory_order::relaxed);
}

/// A child of fork goes on as a thread that the system gives another number.
struct after_forks {
    after_forks() {
        at_fork(nullptr, [] {
            if (const std::uint32_t number_plus_one = kept_word(); number_plus_one != 0) {
                note_system_thread(number_plus_one - 1);
            }
        });
    }
};
const after_forks registered;

} // namespace

std::uint64_t numbering() noexcept {
    return reinterpret_cast<std::uintptr_t>(&this_process) << (number_bits - zero_bits);
}

std::uint32_t claim_index(std::uint64_t wanted) noexcept {
    const std::uint64_t mine = numbering();
    if (wanted != mine) {
        return foreign_thread_index;
    }
    std::uint32_t number_plus_one = kept_word();
    if (number_plus_one == 0) {
        const std::uint32_t index = this_process.thread_indices.claim();
        if (index == thread_index_limit) {
            return index;
        }
        note_system_thread(index);
        this_process.thread_generations[index].fetch_add(1, std::memory_order::relaxed); // by its owner alone
        number_plus_one = index + 1;
        keep_word(number_plus_one);
    }
    known = {.word = mine + number_plus_one,
             .generation =
                 this_process.thread_generations[number_plus_one - 1].load(std::memory_order::relaxed)};
    return number_plus_one - 1;
}

void thread_ends(std::uint32_t number_plus_one) noexcept {
#if !defined(__MINGW32__) // which has freed the thread's variables by now, and would make them anew for good
    known = {};
#endif
    this_process.thread_indices.give_back(number_plus_one - 1);
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

// SPDX-License-Identifier: MIT
#pragma once

#include "sim_policy.hpp"

#include <atomic>
#include <cstdint>

namespace handlepool::coherence {

/// A fair lock, which spins: its waiting threads read one word, and get it anew whenever the lock is passed
/// on. For what it protects, a lock that sleeps makes the same transfers.
class ticket_lock {
public:
    void lock() noexcept {
        const std::uint32_t mine = next_.fetch_add(1, std::memory_order::relaxed);
        while (serving_.load(std::memory_order::acquire) != mine) {
            machine::current()->wait_for_change(&serving_);
        }
    }
    void unlock() noexcept {
        serving_.store(serving_.load(std::memory_order::relaxed) + 1, std::memory_order::release);
    }

private:
    alignas(line_size) sim_atomic<std::uint32_t> next_{0};
    alignas(line_size) sim_atomic<std::uint32_t> serving_{0};
};

} // namespace handlepool::coherence

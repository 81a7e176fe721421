// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace handlepool::stress {

// Where threads leave handles for each other.
template <class Handle>
class shared_handles {
public:
    explicit shared_handles(std::size_t seats) : seats_(seats) {}

    std::size_t size() const noexcept { return seats_.size(); }

    // Acquire and release: what is known of a handle by the thread that put it here also holds for the
    // reader.
    Handle get(std::size_t seat) const noexcept {
        return Handle::from_value(seats_[seat].load(std::memory_order::acquire));
    }
    void put(std::size_t seat, Handle handle) noexcept {
        seats_[seat].store(handle.value(), std::memory_order::release);
    }

private:
    std::vector<std::atomic<typename Handle::value_type>> seats_; // 0: empty
};

} // namespace handlepool::stress

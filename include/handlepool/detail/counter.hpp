#pragma once

#include <atomic>
#include <cstdint>

namespace handlepool::detail {

/// Adds to a counter that only the calling thread writes.
template <class Counter>
void add(Counter& counter, std::uint64_t amount) noexcept {
    counter.store(counter.load(std::memory_order::relaxed) + amount, std::memory_order::relaxed);
}

} // namespace handlepool::detail

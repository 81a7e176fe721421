#pragma once

#include <atomic>
#include <cstddef>
#include <limits>

namespace handlepool {

/// The smallest of the distances that it was shown: how many other indices were freed between an index's
/// being freed and its being handed out again.
template <class Policy>
class reuse_distance {
public:
    /// Any thread. Lock-free; writes only when the distance is smaller than all before.
    void observe(std::size_t distance) noexcept {
        std::size_t smallest = smallest_.load(std::memory_order::relaxed);
        while (distance < smallest &&
               !smallest_.compare_exchange_weak(smallest, distance, std::memory_order::relaxed)) {
        }
    }

    /// The largest std::size_t while it was shown none.
    std::size_t get() const noexcept { return smallest_.load(std::memory_order::relaxed); }

private:
    typename Policy::template atomic<std::size_t> smallest_{std::numeric_limits<std::size_t>::max()};
};

} // namespace handlepool

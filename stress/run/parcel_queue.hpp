// SPDX-License-Identifier: MIT
#pragma once

// The queue in which handles travel between threads: any thread pushes and takes at any time.

#if HANDLEPOOL_STRESS_TBB
#include <tbb/concurrent_queue.h>

namespace handlepool::stress {

template <class Parcel>
using parcel_queue = tbb::concurrent_queue<Parcel>;

} // namespace handlepool::stress
#else
#include <cstddef>
#include <mutex>
#include <queue>

namespace handlepool::stress {

// With the names of oneTBB's.
template <class Parcel>
class parcel_queue {
public:
    std::size_t unsafe_size() const {
        const std::lock_guard lock(mutex_);
        return parcels_.size();
    }

    void push(const Parcel& parcel) {
        const std::lock_guard lock(mutex_);
        parcels_.push(parcel);
    }

    bool try_pop(Parcel& parcel) {
        const std::lock_guard lock(mutex_);
        if (parcels_.empty()) {
            return false;
        }
        parcel = parcels_.front();
        parcels_.pop();
        return true;
    }

private:
    mutable std::mutex mutex_;
    std::queue<Parcel> parcels_;
};

} // namespace handlepool::stress
#endif

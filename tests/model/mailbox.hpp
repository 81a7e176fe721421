// SPDX-License-Identifier: MIT
#pragma once

#include "model_atomic.hpp"
#include "model_policy.hpp"

#include <atomic>

namespace handlepool::model {

/// A word by which threads tell each other a handle without ordering anything.
template <class Handle>
class mailbox {
public:
    void put(Handle handle) { word_.store(handle.value(), std::memory_order::relaxed); }
    Handle look() const { return Handle::from_value(word_.load(std::memory_order::relaxed)); }
    /// Looks until there is one.
    Handle await() const {
        while (!look()) {
            model_policy::wait();
        }
        return look();
    }

private:
    model_atomic<typename Handle::value_type> word_;
};

} // namespace handlepool::model

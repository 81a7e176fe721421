#pragma once

#include "model_atomic.hpp"
#include "model_policy.hpp"

#include <atomic>
#include <cstdint>

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

/// Whose turn it is, of threads that use a pool one after the other, as its users would order them.
class turns {
public:
    void pass_to(std::uint32_t turn) { turn_.store(turn, std::memory_order::release); }
    void await(std::uint32_t turn) const {
        while (turn_.load(std::memory_order::acquire) < turn) {
            model_policy::wait();
        }
    }

private:
    model_atomic<std::uint32_t> turn_;
};

} // namespace handlepool::model

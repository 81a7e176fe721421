// SPDX-License-Identifier: MIT
#pragma once

#include "model_atomic.hpp"
#include "model_policy.hpp"

#include <atomic>
#include <cstdint>

namespace handlepool::model {

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

// SPDX-License-Identifier: MIT
#pragma once

#include "../slots.hpp"

#include <tbb/concurrent_queue.h>

#include <cstddef>
#include <cstdint>

namespace handlepool_bench::peers {

class tbb_queue {
public:
    tbb_queue(std::size_t /*capacity*/, unsigned /*threads*/) {}

    void put(unsigned /*thread*/, std::uint32_t index) { queue_.push(index); }
    bool take(unsigned /*thread*/, std::uint32_t& index) { return queue_.try_pop(index); }

private:
    tbb::concurrent_queue<std::uint32_t> queue_;
};

class tbb_slots : public slots<tbb_queue> {
public:
    static constexpr const char* name = "slots + tbb::concurrent_queue";

    using slots::slots;
};

} // namespace handlepool_bench::peers

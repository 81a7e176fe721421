// SPDX-License-Identifier: MIT
#pragma once

#include "../slots.hpp"

#include <boost/lockfree/queue.hpp>

#include <cstddef>
#include <cstdint>

namespace handlepool_bench::peers {

/// Its nodes are allocated in advance. (One of a fixed size has room for 65,534.)
class boost_queue {
public:
    boost_queue(std::size_t capacity, unsigned /*threads*/) : queue_(capacity) {}

    void put(unsigned /*thread*/, std::uint32_t index) { queue_.push(index); }
    bool take(unsigned /*thread*/, std::uint32_t& index) { return queue_.pop(index); }

private:
    boost::lockfree::queue<std::uint32_t> queue_;
};

class boost_slots : public slots<boost_queue> {
public:
    static constexpr const char* name = "slots + boost::lockfree::queue";

    using slots::slots;
};

} // namespace handlepool_bench::peers

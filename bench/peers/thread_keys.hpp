// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

namespace handlepool_bench::peers {

/// Keys for containers that want them from outside: unique, dense, and each thread counts its own.
class thread_keys {
public:
    explicit thread_keys(unsigned threads) : counters_(threads) {}

    std::uint64_t next(unsigned thread) noexcept {
        return ++counters_[thread].count * counters_.size() + thread;
    }

private:
    struct alignas(128) counter { // away from its neighbours
        std::uint64_t count = 0;
    };

    std::vector<counter> counters_;
};

} // namespace handlepool_bench::peers

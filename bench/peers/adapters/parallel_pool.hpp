// SPDX-License-Identifier: MIT
#pragma once

#include "pool.hpp"

#include <handlepool/thread_executor.hpp>

#include <algorithm>
#include <cstddef>
#include <thread>

namespace handlepool_bench::peers {

/// The pool, compacted by as many threads as create and erase, if there are as many processors.
class parallel_pool : public pool {
public:
    static constexpr const char* name = "handlepool::pool, parallel compaction";
    static constexpr unsigned fewest_threads = 2;

    parallel_pool(std::size_t alive, unsigned threads)
        : pool(alive, threads),
          executor_(std::min(threads, std::max(1U, std::thread::hardware_concurrency()))) {}

    void end_frame() { pool_contender::pool().compact(executor_); }

private:
    handlepool::thread_executor executor_;
};

} // namespace handlepool_bench::peers

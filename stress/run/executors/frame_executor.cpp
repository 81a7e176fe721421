// SPDX-License-Identifier: MIT
#include "frame_executor.hpp"

#include "shared_executor.hpp"

#include <handlepool/executor.hpp>
#include <handlepool/thread_executor.hpp>

#include <algorithm>
#include <thread>

namespace handlepool::stress {

namespace {

// A loop is done sooner by fewer threads than by many more than there are processors. Under ThreadSanitizer
// it would never be done by 200: oneTBB's idle threads read a variable in turns and leave its writer no gap,
// because there an atomic read takes a lock of readers, who go first.
std::size_t threads_for_loops(std::size_t threads) {
    constexpr unsigned threads_a_processor = 4;
    return std::min<std::size_t>(threads,
                                 std::max(1U, std::thread::hardware_concurrency()) * threads_a_processor);
}

} // namespace

std::shared_ptr<const executor_ref> make_executor(const service_setting& setting, std::size_t threads) {
    const std::size_t for_loops = threads_for_loops(threads);
    switch (setting.executor) {
    case executor_kind::threads:
        return share_traced<thread_executor>(setting.records, static_cast<unsigned>(for_loops));
    case executor_kind::tbb:
        return make_tbb_executor(setting.records, for_loops);
    case executor_kind::in_line:
        break;
    }
    return share_traced<inline_executor>(setting.records);
}

} // namespace handlepool::stress

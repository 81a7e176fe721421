// SPDX-License-Identifier: MIT
#include "shared_executor.hpp"

#include <handlepool/tbb/executor.hpp>

#include <tbb/global_control.h>
#include <tbb/task_arena.h>

namespace handlepool::stress {

namespace {

// oneTBB with threads of its own, also where they are some more than the processors.
class tbb_with_threads {
public:
    explicit tbb_with_threads(std::size_t threads)
        : allowed_(tbb::global_control::max_allowed_parallelism, threads),
          arena_(static_cast<int>(threads)) {}

    template <class Body>
    void for_ranges(std::size_t count, std::size_t grain, Body&& body) {
        tbb_executor(arena_).for_ranges(count, grain, body);
    }

private:
    tbb::global_control allowed_;
    tbb::task_arena arena_;
};

} // namespace

std::shared_ptr<const executor_ref> make_tbb_executor(timeline* records, std::size_t threads) {
    return share_traced<tbb_with_threads>(records, threads);
}

} // namespace handlepool::stress

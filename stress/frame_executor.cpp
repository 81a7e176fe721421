#include "frame_executor.hpp"

#include <handlepool/executor.hpp>
#include <handlepool/tbb/executor.hpp>
#include <handlepool/thread_executor.hpp>

#include <tbb/global_control.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <thread>
#include <utility>

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

// A loop is done sooner by fewer threads than by many more than there are processors. Under ThreadSanitizer
// it would never be done by 200: oneTBB's idle threads read a variable in turns and leave its writer no gap,
// because there an atomic read takes a lock of readers, who go first.
std::size_t threads_for_loops(std::size_t threads) {
    constexpr unsigned threads_a_processor = 4;
    return std::min<std::size_t>(threads,
                                 std::max(1U, std::thread::hardware_concurrency()) * threads_a_processor);
}

} // namespace

template <class Executor, class... Args>
auto frame_executor::make_one(handlepool::timeline* records, Args&&... args) -> owned_executor {
    if (records == nullptr) {
        const auto made = std::make_shared<Executor>(std::forward<Args>(args)...);
        return {made, *made};
    }
    const auto made = std::make_shared<traced_executor<Executor>>(*records, std::forward<Args>(args)...);
    return {made, *made};
}

auto frame_executor::make(const service_setting& setting, std::size_t threads) -> owned_executor {
    const std::size_t for_loops = threads_for_loops(threads);
    switch (setting.executor) {
    case executor_kind::threads:
        return make_one<thread_executor>(setting.records, static_cast<unsigned>(for_loops));
    case executor_kind::tbb:
        return make_one<tbb_with_threads>(setting.records, for_loops);
    case executor_kind::in_line:
        break;
    }
    return make_one<inline_executor>(setting.records);
}

} // namespace handlepool::stress

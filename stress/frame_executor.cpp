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

// An executor, and the reference that is shared.
template <class Executor>
struct owned_executor {
    template <class... Args>
    explicit owned_executor(Args&&... args) : executor(std::forward<Args>(args)...) {}

    Executor executor;
    const executor_ref reference{executor};
};

template <class Executor, class... Args>
std::shared_ptr<const executor_ref> share(Args&&... args) {
    const auto made = std::make_shared<owned_executor<Executor>>(std::forward<Args>(args)...);
    return {made, &made->reference};
}

template <class Executor, class... Args>
std::shared_ptr<const executor_ref> share_traced(timeline* records, Args... args) {
    return records == nullptr ? share<Executor>(args...)
                              : share<traced_executor<Executor>>(*records, args...);
}

} // namespace

std::shared_ptr<const executor_ref> make_executor(const service_setting& setting, std::size_t threads) {
    const std::size_t for_loops = threads_for_loops(threads);
    switch (setting.executor) {
    case executor_kind::threads:
        return share_traced<thread_executor>(setting.records, static_cast<unsigned>(for_loops));
    case executor_kind::tbb:
        return share_traced<tbb_with_threads>(setting.records, for_loops);
    case executor_kind::in_line:
        break;
    }
    return share_traced<inline_executor>(setting.records);
}

} // namespace handlepool::stress

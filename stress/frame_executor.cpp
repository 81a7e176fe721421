#include "frame_executor.hpp"

#include <handlepool/executor.hpp>
#include <handlepool/tbb/executor.hpp>
#include <handlepool/thread_executor.hpp>

#include <tbb/global_control.h>
#include <tbb/task_arena.h>

#include <utility>

namespace handlepool::stress {

namespace {

// oneTBB with threads of its own, also where they are more than the processors.
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

class frame_executor::any {
public:
    virtual ~any() = default;
    virtual executor_ref get() = 0;
};

template <class Executor>
class frame_executor::holder final : public any {
public:
    template <class... Args>
    explicit holder(Args&&... args) : held_(std::forward<Args>(args)...) {}

    executor_ref get() override { return held_; }

private:
    Executor held_;
};

template <class Executor, class... Args>
std::unique_ptr<frame_executor::any> frame_executor::make(timeline* records, Args&&... args) {
    if (records == nullptr) {
        return std::make_unique<holder<Executor>>(std::forward<Args>(args)...);
    }
    return std::make_unique<holder<traced_executor<Executor>>>(*records, std::forward<Args>(args)...);
}

frame_executor::frame_executor(const service_setting& setting, std::size_t threads) {
    switch (setting.executor) {
    case executor_kind::in_line:
        executor_ = make<inline_executor>(setting.records);
        break;
    case executor_kind::threads:
        executor_ = make<thread_executor>(setting.records, static_cast<unsigned>(threads));
        break;
    case executor_kind::tbb:
        executor_ = make<tbb_with_threads>(setting.records, threads);
        break;
    }
}

frame_executor::~frame_executor() = default;

executor_ref frame_executor::get() const noexcept {
    return executor_->get();
}

} // namespace handlepool::stress

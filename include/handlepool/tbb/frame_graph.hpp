// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/exclusive_pool.hpp>
#include <handlepool/service.hpp>
#include <handlepool/spawner.hpp>
#include <handlepool/tbb/executor.hpp>
#include <handlepool/timeline.hpp>

#include <tbb/flow_graph.h>
#include <tbb/task_group.h>

#include <atomic>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace handlepool {

/// When a task of a frame ran. One that did not run, because another failed before it, took no time.
struct task_times {
    std::string name;                    ///< as it was added
    std::chrono::nanoseconds begin{};    ///< since the frame began
    std::chrono::nanoseconds duration{}; ///< of its run
};

/// The report on one frame.
struct frame_report {
    std::uint64_t frame = 0;             ///< its number, from 0 on, over all runs of the graph
    std::chrono::nanoseconds duration{}; ///< until its last task had ended
    std::vector<task_times> tasks; ///< in the order in which they were added; the compaction is the first
    service_compaction compaction; ///< what the service's compact() returned
};

/// How a run of frames ended.
struct frame_run {
    std::uint64_t frames = 0;   ///< frames that ran to their ends
    bool cancelled = false;     ///< whether cancel() ended it before all frames were run
    std::exception_ptr failure; ///< what a task threw in the frame after those; null if none did
    std::string failed_task;    ///< which task

    /// Throws the failure, if there is one.
    void rethrow() const {
        if (failure) {
            std::rethrow_exception(failure);
        }
    }
};

/// Runs the frames of a program on oneTBB: a flow graph of its tasks, one of which is the compaction of a
/// service.
///
///     handlepool::frame_graph frame(world);
///     auto& simulate = frame.add_task("simulate", [&] { ... });
///     auto& render = frame.add_task("render", [&] { ... });
///     tbb::flow::make_edge(frame.start(), simulate);
///     tbb::flow::make_edge(simulate, frame.compaction());
///     tbb::flow::make_edge(frame.compaction(), render);
///     frame.run(1000).rethrow();
///
/// A task may use pointers into the pools if it is ordered with the compaction, by edges. A frame ends when
/// all its tasks have ended. Tasks run in the arena in which the frame_graph was made; more threads than
/// processors need a tbb::global_control too.
class frame_graph {
public:
    /// A task, for edges.
    using node = tbb::flow::continue_node<tbb::flow::continue_msg>;

    /// The service must outlive it. Throws std::bad_alloc.
    template <class Layout>
    explicit frame_graph(basic_service<Layout>& pools)
        : compact_([&pools](executor_ref executor) { return pools.compact(executor); }), start_(graph_) {
        add_task("compaction", [this] { compact(); });
    }
    /// Waits for what still runs.
    ~frame_graph() { graph_.wait_for_all(); }

    frame_graph(const frame_graph&) = delete;
    frame_graph& operator=(const frame_graph&) = delete;

    // ---- Between runs, by one thread. Constant, except for the runs.

    /// Each frame begins here: make edges from it to the tasks that wait for no other.
    tbb::flow::broadcast_node<tbb::flow::continue_msg>& start() noexcept { return start_; }
    /// The per-frame task of the service.
    node& compaction() noexcept { return tasks_.front().run; }

    /// Adds a task, which runs once a frame, when all those before it have ended. The caller makes the edges;
    /// a task without an edge to it never runs. Throws std::bad_alloc.
    node& add_task(std::string name, std::function<void()> body) {
        return tasks_.emplace_back(*this, std::move(name), std::move(body)).run;
    }

    /// Adds a task that has exclusive access to a pool: `body(view)` gets an exclusive_pool. The edges must
    /// order it with the compaction, and with each task that uses the pool. Throws std::bad_alloc.
    template <class T, class Traits, class Body>
        requires std::invocable<Body&, detail::exclusive_view<T, Traits>&>
    node& add_exclusive_task(std::string name, pool_frames<T, Traits>& objects, Body body) {
        return add_task(std::move(name), [&objects, body = std::move(body)]() mutable {
            auto alone = objects.exclusive_access();
            body(alone);
        });
    }

    /// Adds a task of `count` parts, which run at the same time: `body(spawner)` gets a spawner of its own in
    /// each, so that what it creates and erases does not depend on the threads. The edges must order it with
    /// the compaction, and with each task that asks for spawners of the pool. Throws std::bad_alloc.
    template <class T, class Traits, class Body>
        requires std::invocable<const Body&, spawner<T, Traits>&>
    node& add_spawning_task(std::string name, pool_frames<T, Traits>& objects, std::size_t count, Body body) {
        return add_task(std::move(name), [&objects, count, body = std::move(body)] {
            objects.spawners(count).for_each(body, tbb_executor());
        });
    }

    /// For nodes of other kinds. What they throw ends the run, like what a task throws.
    tbb::flow::graph& graph() noexcept { return graph_; }

    /// Has tasks and compactions recorded there from now on, or no longer if it is null.
    void record(timeline* records) noexcept { timeline_ = records; }

    /// Runs `frames` frames, and calls `after_frame(report)` after each; returns early when a task throws, or
    /// after cancel(). Then the remaining tasks of the frame don't run, and neither does a compaction that
    /// has not begun; the next run begins a new frame.
    /// Progress: blocking; must not be called by one of its own tasks, for whose end it would wait.
    /// Throws std::bad_alloc and what `after_frame` throws.
    frame_run run(std::uint64_t frames, const std::function<void(const frame_report&)>& after_frame = {});

    // ---- Any thread, at any time

    /// Ends the current run, or the next one if there is none, or if `after_frame` throws in the current one:
    /// tasks that have begun end as they would, others don't begin. All that came before the call happens
    /// before that run's return.
    void cancel() noexcept {
        // (30) release: pairs with (31)
        cancelled_.store(true, std::memory_order::release);
    }

private:
    using clock = std::chrono::steady_clock;

    struct task {
        task(frame_graph& frame, std::string task_name, std::function<void()> task_body)
            : name(std::move(task_name)),
              body(std::move(task_body)),
              run(frame.graph_, [this, &frame](const tbb::flow::continue_msg&) { frame.run_task(*this); }) {}

        std::string name;
        std::function<void()> body;
        clock::time_point begin;
        clock::time_point end;
        node run;
    };

    // Relaxed: a task that ends early reads nothing that others have written.
    bool ending() const noexcept {
        return cancelled_.load(std::memory_order::relaxed) || failed_.load(std::memory_order::relaxed);
    }
    void run_task(task& one);
    void compact();
    void note_failure(std::string name, std::exception_ptr thrown);
    frame_report report_of(clock::time_point begin, clock::time_point end);

    std::function<service_compaction(executor_ref)> compact_;
    // Of its own: a group of tasks that is cancelled around a run would cut a frame in half.
    tbb::task_group_context context_{tbb::task_group_context::isolated};
    tbb::flow::graph graph_{context_};
    tbb::flow::broadcast_node<tbb::flow::continue_msg> start_;
    std::deque<task> tasks_; // the first is the compaction
    timeline* timeline_ = nullptr;
    service_compaction compaction_;
    std::uint64_t frame_ = 0;

    std::atomic<bool> cancelled_ = false;
    std::atomic<bool> failed_ = false;
    std::atomic<bool> left_out_ = false; // has a task of the frame not run?
    std::mutex failure_mutex_;           // for what follows
    std::exception_ptr failure_;
    std::string failed_task_;
};

inline void frame_graph::run_task(task& one) {
    if (ending()) {
        left_out_.store(true, std::memory_order::relaxed);
        return;
    }
    one.begin = clock::now();
    if (const std::exception_ptr thrown = detail::capture_exception(one.body)) {
        note_failure(one.name, thrown);
    }
    one.end = clock::now();
    if (timeline_ != nullptr) {
        timeline_->add_span(one.name, one.begin, one.end);
    }
}

inline void frame_graph::compact() {
    if (timeline_ == nullptr) {
        tbb_executor executor;
        compaction_ = compact_(executor);
    } else {
        traced_executor<tbb_executor> executor(*timeline_);
        compaction_ = compact_(executor);
    }
}

/// Only the first failure is kept.
inline void frame_graph::note_failure(std::string name, std::exception_ptr thrown) {
    const std::scoped_lock lock(failure_mutex_);
    if (!failure_) {
        failure_ = std::move(thrown);
        failed_task_ = std::move(name);
    }
    failed_.store(true, std::memory_order::relaxed);
}

inline frame_report frame_graph::report_of(clock::time_point begin, clock::time_point end) {
    frame_report report{.frame = frame_, .duration = end - begin, .tasks = {}, .compaction = compaction_};
    for (const task& one : tasks_) {
        const bool ran = one.begin >= begin;
        report.tasks.push_back({one.name, ran ? one.begin - begin : std::chrono::nanoseconds(0),
                                ran ? one.end - one.begin : std::chrono::nanoseconds(0)});
    }
    return report;
}

inline frame_run frame_graph::run(std::uint64_t frames,
                                  const std::function<void(const frame_report&)>& after_frame) {
    frame_run done;
    failed_.store(false, std::memory_order::relaxed);
    failure_ = nullptr;
    failed_task_.clear();
    while (done.frames != frames && !ending()) {
        const clock::time_point begin = clock::now();
        compaction_ = {};
        left_out_.store(false, std::memory_order::relaxed);
        const std::exception_ptr thrown = detail::capture_exception([this] { // by a node that is no task
            start_.try_put(tbb::flow::continue_msg());
            graph_.wait_for_all();
            if (graph_.is_cancelled()) { // by a task: nodes are left with a part of their messages
                graph_.reset();
                left_out_.store(true, std::memory_order::relaxed);
                cancel();
            }
        });
        if (thrown) {
            note_failure("a node of another kind", thrown);
            graph_.reset();
        }
        const clock::time_point end = clock::now();
        if (timeline_ != nullptr) {
            timeline_->add_span("frame", begin, end, "frames");
        }
        const frame_report report = report_of(begin, end);
        ++frame_;
        if (left_out_.load(std::memory_order::relaxed) || failed_.load(std::memory_order::relaxed)) {
            break;
        }
        ++done.frames;
        if (after_frame) {
            after_frame(report);
        }
    }
    done.failure = failure_;
    done.failed_task = failed_task_;
    // A cancel() that came too late for this run, or while there was nothing to run, is for the next.
    // (31) acquire: pairs with (30)
    done.cancelled = done.frames != frames && cancelled_.exchange(false, std::memory_order::acquire);
    return done;
}

} // namespace handlepool

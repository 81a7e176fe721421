#include "replay.hpp"

#include "checked_pool.hpp"
#include "frames.hpp"
#include "progress.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <memory>
#include <random>
#include <thread>

namespace handlepool::stress {

namespace {

constexpr std::uint32_t never = std::numeric_limits<std::uint32_t>::max();

// What is to be done in which frame by which thread, worked out before the clock starts.
struct schedule {
    struct step {
        event_kind kind;
        std::uint32_t object;
    };

    std::size_t threads = 0;
    std::size_t frames = 0;
    std::size_t capacity = 0;                       // objects that a frame has to hold at the most
    std::size_t alive_final = 0;
    std::vector<std::vector<step>> steps;           // of each thread, in order
    std::vector<std::vector<std::size_t>> frame_ends; // of each thread and frame, positions in its steps
    std::vector<std::uint32_t> born;                // frame of each object's creation
    std::vector<std::uint32_t> dies;                // frame of its erasure, or never
};

schedule plan(const trace& recorded, const replay_options& options) {
    const auto frame_ns = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(options.frame_ms * 1e6));
    const trace_summary summary = summarize(recorded);

    schedule result;
    result.threads = options.threads != 0 ? options.threads : static_cast<std::size_t>(summary.threads);
    result.threads = std::max<std::size_t>(result.threads, 1);
    result.frames = recorded.events.empty() ? 0 : recorded.events.back().time_ns() / frame_ns + 1;
    result.steps.resize(result.threads);
    result.frame_ends.assign(result.threads, std::vector<std::size_t>(result.frames));
    result.born.resize(summary.allocations, never);
    result.dies.resize(summary.allocations, never);

    std::size_t alive = 0;
    std::size_t held = 0; // alive, or erased in this frame
    std::size_t frame = 0;
    const auto end_frame = [&] {
        for (std::size_t thread = 0; thread < result.threads; ++thread) {
            result.frame_ends[thread][frame] = result.steps[thread].size();
        }
        held = alive;
        ++frame;
    };
    for (const trace_event& event : recorded.events) {
        while (frame < event.time_ns() / frame_ns) {
            end_frame();
        }
        result.steps[event.thread() % result.threads].push_back({event.kind(), event.object()});
        if (event.kind() == event_kind::allocate) {
            result.born[event.object()] = static_cast<std::uint32_t>(frame);
            ++alive;
            result.capacity = std::max(result.capacity, ++held);
        } else {
            result.dies[event.object()] = static_cast<std::uint32_t>(frame);
            --alive;
        }
    }
    while (frame < result.frames) {
        end_frame();
    }
    result.alive_final = alive;
    return result;
}

// One thread's way through the trace.
class worker {
public:
    worker(const schedule& planned, std::size_t thread, std::vector<std::atomic<std::uint64_t>>& handles,
           checked_pool& pool, const replay_options& options)
        : plan_(planned), thread_(thread), handles_(handles), pool_(pool), lookups_(options.lookups),
          random_(options.seed + thread) {}

    void run_frame(std::size_t frame, const std::atomic<bool>& failed) {
        look_around(frame);
        const std::vector<schedule::step>& steps = plan_.steps[thread_];
        for (const std::size_t end = plan_.frame_ends[thread_][frame]; next_ < end; ++next_) {
            const schedule::step step = steps[next_];
            if (step.kind == event_kind::allocate) {
                // release: pairs with the acquire in wait_for, the hand-off to the thread that frees it
                handles_[step.object].store(pool_.create(step.object, mine_).value(), std::memory_order::release);
                created_.push_back(step.object);
            } else {
                const auto handle = wait_for(step.object, failed);
                if (!handle) {
                    return;
                }
                pool_.erase(handle, step.object, mine_);
                erased_.push_back(step.object);
            }
        }
    }

    const tally& result() const noexcept { return mine_; }

private:
    using handle_type = checked_pool::handle_type;

    // The thread that creates the object may not have come to it yet. The trace's order leaves no cycle to wait in.
    handle_type wait_for(std::uint32_t object, const std::atomic<bool>& failed) const {
        while (true) {
            if (const std::uint64_t value = handles_[object].load(std::memory_order::acquire)) {
                return handle_type::from_value(value);
            }
            if (failed.load()) {
                return {};
            }
            std::this_thread::yield();
        }
    }

    // Looks up living objects of this thread, and dead ones, that no thread touches in this frame.
    void look_around(std::size_t frame) {
        for (std::size_t i = 0; i < lookups_ && !created_.empty(); ++i) {
            const std::size_t position = random_() % created_.size();
            const std::uint32_t object = created_[position];
            if (plan_.dies[object] > frame) {
                pool_.look_up(handle_of(object), object, mine_);
            } else {
                created_[position] = created_.back();
                created_.pop_back();
            }
        }
        for (std::size_t i = 0; i < lookups_ && !erased_.empty(); ++i) {
            const std::uint32_t object = erased_[random_() % erased_.size()];
            pool_.try_stale(handle_of(object), object, mine_);
        }
    }

    handle_type handle_of(std::uint32_t object) const {
        return handle_type::from_value(handles_[object].load(std::memory_order::relaxed)); // stored by this thread,
                                                                                           // or acquired before
    }

    const schedule& plan_;
    std::size_t thread_;
    std::vector<std::atomic<std::uint64_t>>& handles_;
    checked_pool& pool_;
    std::size_t lookups_;
    std::mt19937_64 random_;
    std::size_t next_ = 0;
    std::vector<std::uint32_t> created_; // by this thread; some have died since
    std::vector<std::uint32_t> erased_;
    tally mine_;
};

} // namespace

report replay(const trace& recorded, const replay_options& options) {
    const schedule planned = plan(recorded, options);
    checked_pool pool({.name = "replay", .capacity = std::max<std::size_t>(planned.capacity, 1)});
    std::vector<std::atomic<std::uint64_t>> handles(planned.born.size());
    std::vector<std::unique_ptr<worker>> workers; // apart from each other
    for (std::size_t thread = 0; thread < planned.threads; ++thread) {
        workers.push_back(std::make_unique<worker>(planned, thread, handles, pool, options));
    }

    report result{.command = "replay"};
    {
        progress bar("replay", planned.frames);
        std::uint64_t steps_done = 0;
        const auto start = std::chrono::steady_clock::now();
        run_frames(
            planned.threads, planned.frames,
            [&](std::size_t thread, std::size_t frame, const std::atomic<bool>& failed) {
                workers[thread]->run_frame(frame, failed);
            },
            [&](std::size_t frame) {
                pool.compact();
                for (std::size_t thread = 0; thread < planned.threads; ++thread) {
                    const auto& ends = planned.frame_ends[thread];
                    steps_done += ends[frame] - (frame == 0 ? 0 : ends[frame - 1]);
                }
                bar.show(frame + 1, steps_done);
            });
        result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    }

    for (const auto& one : workers) {
        result.all += one->result();
    }
    result.timed_operations = result.all.operations;
    pool.check_all(planned.alive_final, result.all);
    // At last every handle of the trace: those of erased objects must be dead, the others must resolve.
    for (std::uint32_t object = 0; object < planned.dies.size(); ++object) {
        const auto handle =
            checked_pool::handle_type::from_value(handles[object].load(std::memory_order::relaxed));
        if (planned.dies[object] == never) {
            pool.look_up(handle, object, result.all);
        } else {
            pool.try_stale(handle, object, result.all);
        }
    }
    result.threads = planned.threads;
    result.frames = planned.frames;
    result.alive_peak = pool.alive_peak();
    result.compaction_times = pool.compaction_times();
    result.pool = pool.get().stats();
    return result;
}

} // namespace handlepool::stress

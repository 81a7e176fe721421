// SPDX-License-Identifier: MIT
#include "replay.hpp"

#include "results/numbers.hpp"
#include "run/resources.hpp"
#include "run/shared_handles.hpp"
#include "run/test_run.hpp"
#include "watched/watched_pool.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

namespace handlepool::stress {

namespace {

constexpr std::uint32_t never = std::numeric_limits<std::uint32_t>::max();

// All threads meet at the end of each frame. More would take a quarter of an hour and longer.
constexpr std::uint64_t most_frames = 1'000'000;
constexpr std::uint64_t most_meetings = 100'000'000; // a meeting for each thread in each frame

// What is to be done in which frame by which thread, worked out before the clock starts.
struct schedule {
    struct step {
        event_kind kind;
        std::uint32_t object;
        std::uint32_t frame;
    };

    std::size_t threads = 0;
    std::size_t frames = 0;
    std::size_t capacity = 0;             // the most objects that a frame has to hold
    std::vector<std::vector<step>> steps; // of each thread, in order
    std::vector<std::uint32_t> dies;      // frame of each object's erasure, or never
};

std::size_t count_frames(const trace& recorded, double frame_ms, std::uint64_t frame_ns,
                         std::size_t threads) {
    if (recorded.events.empty()) {
        return 0;
    }
    const std::uint64_t last_ns = recorded.events.back().time_ns();
    const std::uint64_t frames = last_ns / frame_ns + 1;
    const std::uint64_t most = std::min(most_frames, most_meetings / threads);
    if (frames > most) {
        throw std::invalid_argument(fmt::format(
            "--frame-ms: '{}' would cut the {:.3g} s of the trace into {} frames for {} thread{} "
            "(allowed: at most {}, which is {:.6g} ms and more)",
            frame_ms, static_cast<double>(last_ns) / 1e9, grouped(frames), threads, threads == 1 ? "" : "s",
            grouped(most), std::ceil(static_cast<double>(last_ns / most + 1) / 1e3) / 1e3));
    }
    return static_cast<std::size_t>(frames);
}

schedule plan(const trace& recorded, const replay_options& options) {
    const auto frame_ns = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(options.frame_ms * 1e6));
    const trace_summary summary = summarize(recorded);
    const std::size_t recorded_threads = std::max<std::size_t>(summary.threads, 1);

    schedule result;
    result.threads = options.threads != 0 ? options.threads : recorded_threads;
    result.frames = count_frames(recorded, options.frame_ms, frame_ns, result.threads);
    result.steps.resize(result.threads);
    result.dies.resize(summary.allocations, never);

    // Too few threads take over those of others; with too many, several share the objects of one. Who created
    // an object and erased it in the recording, does so here.
    const auto thread_of = [&](const trace_event& event) -> std::size_t {
        const bool shared = result.threads > recorded_threads;
        return (event.thread() + (shared ? recorded_threads * event.object() : 0)) % result.threads;
    };

    std::size_t alive = 0;
    std::size_t held = 0; // alive, or erased in this frame
    std::uint32_t frame = 0;
    for (const trace_event& event : recorded.events) {
        if (const auto now = static_cast<std::uint32_t>(event.time_ns() / frame_ns); now != frame) {
            frame = now;
            held = alive;
        }
        result.steps[thread_of(event)].push_back({event.kind(), event.object(), frame});
        if (event.kind() == event_kind::allocate) {
            ++alive;
            result.capacity = std::max(result.capacity, ++held);
        } else {
            result.dies[event.object()] = frame;
            --alive;
        }
    }
    return result;
}

// One thread's way through the trace.
template <class Pool>
class worker {
public:
    using handle_type = typename Pool::handle_type;

    worker(const schedule& planned, std::size_t thread, shared_handles<handle_type>& handles, Pool& pool,
           test_run& run, std::size_t lookups)
        : plan_(planned),
          thread_(thread),
          handles_(handles),
          mine_(pool.by(thread)),
          threads_(run.team()),
          lookups_(lookups),
          random_(run.random(thread)) {}

    void run_frame(std::size_t frame) {
        look_around(frame);
        const std::vector<schedule::step>& steps = plan_.steps[thread_];
        for (; next_ < steps.size() && steps[next_].frame == frame; ++next_) {
            const schedule::step step = steps[next_];
            if (step.kind == event_kind::allocate) {
                handles_.put(step.object, mine_.create_numbered(step.object));
                created_.push_back(step.object);
            } else {
                const auto handle = wait_for(step.object);
                if (!handle) {
                    return;
                }
                mine_.look_up(handle, step.object);
                mine_.erase_living(handle);
                erased_.push_back(step.object);
            }
        }
    }

private:
    // The thread that creates the object may not have come to it yet. The trace's order leaves no cycle to
    // wait in.
    handle_type wait_for(std::uint32_t object) const {
        while (true) {
            if (const handle_type handle = handles_.get(object)) {
                return handle;
            }
            if (threads_.failed()) {
                return {};
            }
            std::this_thread::yield();
        }
    }

    // Looks up objects of this thread: living ones, that no thread erases in this frame, and dead ones.
    void look_around(std::size_t frame) {
        for (std::size_t i = 0; i < lookups_; ++i) {
            const std::uint32_t object = choose_living(frame);
            if (object == never) {
                break;
            }
            mine_.look_up(handles_.get(object), object);
        }
        for (std::size_t i = 0; i < lookups_ && !erased_.empty(); ++i) {
            const std::uint32_t object = erased_[random_() % erased_.size()];
            mine_.try_stale(handles_.get(object));
        }
    }

    // One of the objects that outlive this frame, or never if there is none.
    std::uint32_t choose_living(std::size_t frame) {
        while (!created_.empty()) {
            std::uint32_t& object = created_[random_() % created_.size()];
            if (plan_.dies[object] > frame) {
                return object;
            }
            object = created_.back();
            created_.pop_back();
        }
        return never;
    }

    const schedule& plan_;
    std::size_t thread_;
    shared_handles<handle_type>& handles_; // by object
    typename Pool::client_type& mine_;
    const support::thread_team& threads_;
    std::size_t lookups_;
    std::mt19937_64& random_;
    std::size_t next_ = 0;
    std::vector<std::uint32_t> created_; // by this thread; some may have died since
    std::vector<std::uint32_t> erased_;
};

template <class Placement>
void run_frames(test_run& run, const schedule& planned, std::size_t lookups) {
    using pool_type = watched_pool<Placement>;
    pool_type pool(run, {.name = "replay", .capacity = std::max<std::size_t>(planned.capacity, 1)});
    shared_handles<typename pool_type::handle_type> handles(planned.dies.size());
    std::vector<std::unique_ptr<worker<pool_type>>> workers; // apart from each other
    for (std::size_t thread = 0; thread < planned.threads; ++thread) {
        workers.push_back(std::make_unique<worker<pool_type>>(planned, thread, handles, pool, run, lookups));
    }

    for (std::size_t frame = 0; run.more_frames(frame, planned.frames); ++frame) {
        run.together([&](std::size_t thread) { workers[thread]->run_frame(frame); });
        pool.compact(pool.by_main());
    }
    run.stop_clock();

    // At last every handle of the trace: those of erased objects must be dead, the others must resolve.
    for (std::size_t object = 0; object < planned.dies.size(); ++object) {
        if (planned.dies[object] == never) {
            pool.by_main().look_up(handles.get(object), object);
        } else {
            pool.by_main().try_stale(handles.get(object));
        }
    }
    pool.finish();
}

} // namespace

report replay(const trace& recorded, const replay_options& options) {
    const schedule planned = plan(recorded, options);
    require_memory(fmt::format("a frame of this trace, of up to {} objects,", grouped(planned.capacity)),
                   static_cast<double>(planned.capacity) * bytes_of_an_object);
    test_run run("replay", {.threads = planned.threads,
                            .seed = options.seed,
                            .sample = options.sample,
                            .service = options.service});
    with_placement(run,
                   [&]<class Placement>(Placement) { run_frames<Placement>(run, planned, options.lookups); });
    run.add_parameter("program", fmt::to_string(fmt::join(recorded.header.command, " ")));
    run.add_parameter("frame_ms", options.frame_ms);
    run.add_parameter("lookups", options.lookups);
    run.add_parameter("seed", options.seed);
    return std::move(run.result());
}

} // namespace handlepool::stress

#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <thread>
#include <vector>

namespace handlepool_bench {

/// Some threads, the calling one among them, that do the same thing at the same time. They are started once
/// and meet before each task, so that neither their start nor their waking up is measured.
class crew {
public:
    explicit crew(unsigned threads) : spans_(threads) {
        for (unsigned i = 1; i < threads; ++i) {
            helpers_.emplace_back([this, i](const std::stop_token& stop) { serve(stop, i); });
        }
    }

    unsigned size() const { return static_cast<unsigned>(spans_.size()); }

    /// Calls `task(thread)` in all threads; returns the nanoseconds from the first one's start to the last
    /// one's end.
    template <class Task>
    double run(Task&& task) {
        task_ = std::ref(task);
        ++call_;
        work(0);
        while (finished_ != helpers_.size()) {
            std::this_thread::yield();
        }
        finished_ = 0;
        const auto start = std::ranges::min(spans_, {}, &span::start).start;
        const auto end = std::ranges::max(spans_, {}, &span::end).end;
        return std::chrono::duration<double, std::nano>(end - start).count();
    }

private:
    using clock = std::chrono::steady_clock;
    // Apart from its neighbours: threads write theirs while others still work.
    struct alignas(64) span {
        clock::time_point start;
        clock::time_point end;
    };

    void serve(const std::stop_token& stop, unsigned thread) {
        for (unsigned seen = 0; !stop.stop_requested();) {
            if (call_ == seen) {
                std::this_thread::yield();
                continue;
            }
            ++seen;
            work(thread);
            ++finished_;
        }
    }

    void work(unsigned thread) {
        const unsigned round = call_;
        ++arrived_;
        while (arrived_ < round * size()) { // busy: to be woken takes longer than some tasks
        }
        spans_[thread].start = clock::now();
        task_(thread);
        spans_[thread].end = clock::now();
    }

    std::vector<span> spans_;
    std::function<void(unsigned)> task_;
    std::atomic<unsigned> call_{0};
    std::atomic<unsigned> arrived_{0};
    std::atomic<std::size_t> finished_{0};
    std::vector<std::jthread> helpers_; // last: they end first
};

} // namespace handlepool_bench

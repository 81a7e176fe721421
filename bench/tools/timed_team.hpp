// SPDX-License-Identifier: MIT
#pragma once

#include <support/threads/thread_team.hpp>

#include <algorithm>
#include <chrono>
#include <vector>

namespace handlepool_bench {

/// Some threads, the calling one among them, that do the same thing at the same time. They meet before each
/// task, so that neither their start nor their waking up is measured.
class timed_team {
public:
    explicit timed_team(unsigned threads) : spans_(threads), helpers_(threads - 1) {}

    unsigned size() const { return static_cast<unsigned>(spans_.size()); }

    /// Calls `task(thread)` in all threads; returns the nanoseconds from the first one's start to the last
    /// one's end.
    template <class Task>
    double run(Task&& task) {
        helpers_.run_with_caller([&](std::size_t thread) {
            helpers_.meet();
            spans_[thread].start = clock::now();
            task(static_cast<unsigned>(thread));
            spans_[thread].end = clock::now();
        });
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

    std::vector<span> spans_;
    handlepool::support::thread_team helpers_;
};

} // namespace handlepool_bench

// SPDX-License-Identifier: MIT
#pragma once

#include <tbb/enumerable_thread_specific.h>

#include <chrono>

namespace asteroids {

/// Time that threads spend on one kind of work, summed up over them.
class stopwatch {
    using clock = std::chrono::steady_clock;

public:
    /// Measures while it lives.
    class running {
    public:
        explicit running(clock::duration& sum) : sum_(sum) {}
        ~running() { sum_ += clock::now() - begin_; }

        running(const running&) = delete;
        running& operator=(const running&) = delete;

    private:
        clock::duration& sum_;
        clock::time_point begin_ = clock::now();
    };

    /// Any thread.
    [[nodiscard]] running measure() { return running(sums_.local()); }

    /// What was measured since the last call. No thread may be measuring.
    std::chrono::nanoseconds take() {
        clock::duration all{};
        for (clock::duration& each : sums_) {
            all += each;
            each = {};
        }
        return all;
    }

private:
    tbb::enumerable_thread_specific<clock::duration> sums_{clock::duration::zero()}; // a cache line each
};

} // namespace asteroids

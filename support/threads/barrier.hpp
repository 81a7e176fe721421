// SPDX-License-Identifier: MIT
#pragma once

#include <version>

// std::latch and std::barrier. Without futexes libstdc++ (up to 12, at the least) notifies waiters while they
// may be about to wait, and they wait for ever: there, what is below.
#if !defined(__GLIBCXX__) || defined(_GLIBCXX_HAVE_LINUX_FUTEX)
#include <barrier>
#include <latch>

namespace handlepool::support {

using barrier = std::barrier<>;
using latch = std::latch;

} // namespace handlepool::support
#else
#include <condition_variable>
#include <cstddef>
#include <mutex>

namespace handlepool::support {

/// As std::barrier<>.
class barrier {
public:
    explicit barrier(std::ptrdiff_t expected) : expected_(expected), missing_(expected) {}

    void arrive_and_wait() {
        std::unique_lock lock(mutex_);
        const std::size_t mine = phase_;
        arrive();
        changed_.wait(lock, [&] { return phase_ != mine; });
    }
    void arrive_and_drop() {
        const std::scoped_lock lock(mutex_);
        --expected_;
        arrive();
    }

private:
    void arrive() {
        if (--missing_ == 0) {
            missing_ = expected_;
            ++phase_;
            changed_.notify_all();
        }
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    std::ptrdiff_t expected_;
    std::ptrdiff_t missing_;
    std::size_t phase_ = 0;
};

/// As std::latch.
class latch {
public:
    explicit latch(std::ptrdiff_t expected) : missing_(expected) {}

    void count_down(std::ptrdiff_t count = 1) {
        const std::scoped_lock lock(mutex_);
        missing_ -= count;
        if (missing_ == 0) {
            changed_.notify_all();
        }
    }
    void wait() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return missing_ == 0; });
    }
    void arrive_and_wait() {
        count_down();
        wait();
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::ptrdiff_t missing_;
};

} // namespace handlepool::support
#endif

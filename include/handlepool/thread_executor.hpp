// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/least.hpp>
#include <handlepool/executor.hpp>

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace handlepool {

/// An executor with threads of its own, for programs without a job system. One loop at a time: for_ranges
/// must not be called from two threads at once, nor from a body.
class thread_executor {
public:
    /// Loops run on `threads` threads, the calling one among them. Throws std::system_error when the system
    /// has none left, std::bad_alloc.
    explicit thread_executor(unsigned threads) {
        for (unsigned i = 1; i < threads; ++i) {
            crew_.workers.emplace_back([this] { serve(); });
        }
    }

    /// Runs a loop on all threads, or inline when it is too short to divide.
    /// Progress: blocking.
    template <class Body>
    void for_ranges(std::size_t count, std::size_t grain, Body&& body) {
        if (count <= grain || crew_.workers.empty()) {
            inline_executor{}.for_ranges(count, grain, body);
            return;
        }
        {
            const std::scoped_lock lock(mutex_);
            // A few ranges for each thread even out what they cost.
            grain_ = detail::greatest(grain, count / (4 * (crew_.workers.size() + 1)) + 1);
            count_ = count;
            next_.store(0, std::memory_order::relaxed); // carried by the mutex
            body_ = std::ref(body);
            busy_ = crew_.workers.size();
            ++loop_;
        }
        start_.notify_all();
        work();
        std::unique_lock lock(mutex_);
        done_.wait(lock, [this] { return busy_ == 0; });
    }

private:
    // Ends the threads, also when the constructor throws because the system has none left.
    struct crew {
        ~crew() {
            {
                const std::scoped_lock lock(owner.mutex_);
                owner.ending_ = true;
            }
            owner.start_.notify_all();
            for (std::thread& each : workers) {
                each.join();
            }
        }

        thread_executor& owner;
        std::vector<std::thread> workers;
    };

    void serve() {
        std::size_t seen = 0;
        while (true) {
            {
                std::unique_lock lock(mutex_);
                start_.wait(lock, [&] { return ending_ || loop_ != seen; });
                if (ending_) {
                    return;
                }
                seen = loop_;
            }
            work();
            const std::scoped_lock lock(mutex_);
            if (--busy_ == 0) {
                done_.notify_one();
            }
        }
    }

    void work() {
        while (true) {
            const std::size_t first =
                next_.fetch_add(grain_, std::memory_order::relaxed); // a ticket, no more
            if (first >= count_) {
                return;
            }
            body_(first, detail::least(count_, first + grain_));
        }
    }

    std::mutex mutex_;
    std::condition_variable start_;
    std::condition_variable done_;
    bool ending_ = false;
    std::size_t loop_ = 0; // how many were started
    std::size_t busy_ = 0; // workers that are in the loop
    std::size_t count_ = 0;
    std::size_t grain_ = 0;
    std::function<void(std::size_t, std::size_t)> body_;
    std::atomic<std::size_t> next_{0};
    crew crew_{*this, {}}; // last: its threads end first
};

static_assert(executor<thread_executor>);

} // namespace handlepool

// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/stats.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>

namespace request_server {

struct housekeeping {
    std::chrono::milliseconds every{5}; ///< an erased object is destroyed about this much later
    std::size_t budget = 500;           ///< objects in one compaction, for which guards have to wait
    std::size_t memory_floor = 1000;    ///< objects whose memory is always kept
};

/// The thread that compacts a pool, for programs that have no frames. After each compaction, when nobody
/// waits for it any more, it calls `afterwards`.
template <class Pool>
class housekeeper {
public:
    housekeeper(Pool& pool, housekeeping plan, std::function<void()> afterwards)
        : pool_(pool), plan_(plan), afterwards_(std::move(afterwards)) {}

    /// Compacts at once: the pool is full, or soon will be. Any thread.
    void wake() {
        {
            const std::scoped_lock lock(mutex_);
            woken_ = true;
        }
        changed_.notify_one();
    }

    /// So far: how often memory was given back, and the longest compaction. Any thread.
    std::size_t shrinks() const { return shrinks_; }
    std::chrono::nanoseconds longest() const { return longest_; }

private:
    void work(const std::stop_token& stop) {
        while (!stop.stop_requested()) {
            {
                std::unique_lock lock(mutex_);
                changed_.wait_for(lock, stop, plan_.every, [this] { return woken_; });
                woken_ = false;
            }
            compact();
            give_back_memory();
        }
        compact();
    }

    /// A burst takes several compactions. Between two of them, those who have waited for a guard get it.
    void compact() {
        std::size_t left = pool_.idle() ? 0 : plan_.budget;
        while (left >= plan_.budget) {
            const handlepool::compaction_stats done = pool_.compact_some(plan_.budget);
            longest_ = std::max(longest_.load(), done.duration);
            stored_ = done.size;
            peak_ = std::max(peak_, stored_);
            left = done.waiting_removals + done.waiting_newborns;
            afterwards_();
        }
    }

    /// When three quarters of the most that there were are gone from the store.
    void give_back_memory() {
        if (peak_ > plan_.memory_floor && stored_ < peak_ / 4) {
            pool_.shrink_to_fit();
            ++shrinks_;
            peak_ = stored_;
        }
    }

    Pool& pool_;
    housekeeping plan_;
    std::function<void()> afterwards_;
    std::size_t stored_ = 0; // objects, after the last compaction
    std::size_t peak_ = 0;
    std::atomic<std::size_t> shrinks_ = 0;
    std::atomic<std::chrono::nanoseconds> longest_{};

    std::mutex mutex_;
    std::condition_variable_any changed_;
    bool woken_ = false;
    std::jthread thread_{[this](const std::stop_token& stop) { work(stop); }}; // ends before all else
};

} // namespace request_server

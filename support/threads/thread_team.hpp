// SPDX-License-Identifier: MIT
#pragma once

#include <support/threads/barrier.hpp>

#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace handlepool::support {

/// Threads that do the same thing at the same time, as often as they are asked to.
class thread_team {
public:
    using work_function = std::function<void(std::size_t thread)>;

    /// Throws std::system_error if the system can't start that many threads.
    explicit thread_team(std::size_t threads)
        : size_(threads),
          begin_(static_cast<std::ptrdiff_t>(threads + 1)),
          end_(static_cast<std::ptrdiff_t>(threads + 1)) {
        try {
            while (threads_.size() < threads) {
                threads_.emplace_back([this, thread = threads_.size()] { serve(thread); });
            }
        } catch (...) {
            for (std::size_t missing = threads - threads_.size(); missing != 0; --missing) {
                begin_.arrive_and_drop();
            }
            disband();
            throw;
        }
    }
    ~thread_team() { disband(); }

    thread_team(const thread_team&) = delete;
    thread_team& operator=(const thread_team&) = delete;

    std::size_t size() const noexcept { return size_; }

    /// Calls `work(thread)`, for thread from 0 on, on all threads at once; returns when all calls have
    /// returned. Rethrows the first exception; after one, the team must not be used again.
    void run(const work_function& work) {
        begin(work, size_);
        end();
    }

    /// The same, and the calling thread takes part, with the number size().
    void run_with_caller(const work_function& work) {
        begin(work, size_ + 1);
        call(size_);
        end();
    }

    /// For the work: returns when all threads of the run have called it the same number of times, or one has
    /// failed. Spins, so that what follows starts on all threads at nearly the same moment.
    void meet() noexcept {
        const std::size_t mine = arrived_.fetch_add(1);
        const std::size_t all = (mine / at_work_ + 1) * at_work_;
        for (int spins = 0; arrived_.load() < all && !failed(); ++spins) {
            if (spins > 1000) { // more threads than processors
                std::this_thread::yield();
            }
        }
    }

    /// Has a call ended by an exception? Work that waits for another thread's must give up then.
    bool failed() const noexcept { return failed_.load(); }

private:
    void begin(const work_function& work, std::size_t at_work) {
        work_ = &work;
        at_work_ = at_work;
        arrived_.store(0);
        begin_.arrive_and_wait();
    }

    void end() {
        end_.arrive_and_wait();
        if (failure_) {
            std::rethrow_exception(failure_);
        }
    }

    void serve(std::size_t thread) {
        while (true) {
            begin_.arrive_and_wait();
            if (work_ == nullptr) {
                return;
            }
            call(thread);
            end_.arrive_and_wait();
        }
    }

    void call(std::size_t thread) {
        try {
            (*work_)(thread);
        } catch (...) {
            const std::scoped_lock lock(failure_mutex_);
            if (!failure_) {
                failure_ = std::current_exception();
            }
            failed_.store(true);
        }
    }

    void disband() {
        work_ = nullptr;
        begin_.arrive_and_wait();
        threads_.clear(); // joins them
    }

    std::size_t size_;
    // The thread that asks takes part in both.
    barrier begin_;
    barrier end_;
    const work_function* work_ = nullptr; // null: the threads are to end
    std::size_t at_work_ = 0;
    std::atomic<std::size_t> arrived_ = 0; // at meetings
    std::atomic<bool> failed_ = false;
    std::exception_ptr failure_;
    std::mutex failure_mutex_;
    std::vector<std::jthread> threads_; // last: they use the others
};

} // namespace handlepool::support

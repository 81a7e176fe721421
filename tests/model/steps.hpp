// SPDX-License-Identifier: MIT
#pragma once

#include "relacy.hpp"

#include <array>
#include <cstddef>
#include <limits>
#include <utility>

namespace handlepool::model {

inline constexpr unsigned most_threads = 4;

/// Counts the accesses that each thread of an execution makes, and stops one thread before one of them until
/// all others have ended. Plain variables: a checker's threads are fibers of one thread.
class steps {
public:
    static constexpr std::size_t never = std::numeric_limits<std::size_t>::max();

    /// An execution with so many threads begins.
    void begin(unsigned threads) noexcept {
        taken_.fill(0);
        running_ = threads;
        stopped_ = false;
    }

    /// The thread stops before its access number `access`, from 0.
    void stop(unsigned thread, std::size_t access) noexcept {
        victim_ = thread;
        stop_before_ = access;
    }

    /// The calling thread is about to make an access.
    void take() {
        if (!threads_run()) {
            return;
        }
        const unsigned thread = rl::thread_index();
        if (taken_[thread]++ == stop_before_ && thread == victim_ && running_ > 1) {
            stopped_ = true;
            reached_ = true;
            rl::ctx().park_current_thread(false, false, false, {});
        }
    }

    /// Do the threads run, or is it the time before or after them?
    bool threads_run() const noexcept { return running_ != 0; }

    /// The calling thread has ended.
    void end_thread() {
        --running_;
        if (stopped_ && running_ == 1) {
            stopped_ = false;
            rl::ctx().unpark_thread(static_cast<rl::thread_id_t>(victim_), false, {});
        }
    }

    /// Accesses that the calling thread has made.
    std::size_t taken() const { return taken_[rl::thread_index()]; }

    /// Was a thread stopped in some execution since this was last asked?
    bool reached() noexcept { return std::exchange(reached_, false); }

private:
    std::array<std::size_t, most_threads> taken_{};
    unsigned running_ = 0;
    unsigned victim_ = 0;
    std::size_t stop_before_ = never;
    bool stopped_ = false;
    bool reached_ = false;
};

inline steps all_steps;

} // namespace handlepool::model

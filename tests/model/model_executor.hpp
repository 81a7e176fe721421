// SPDX-License-Identifier: MIT
#pragma once

#include "model_policy.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>

namespace handlepool::model {

/// An executor over two threads of a model: one compacts, the other serves its loops or comes too late for
/// them. Loop, ranges and end are handed over as an executor must, by release and acquire, and by nothing
/// more. Who has nothing to do is asleep, so that the checker need not try what happens while it looks
/// around.
class model_executor {
public:
    template <class Body>
    void for_ranges(std::size_t count, std::size_t grain, Body&& body) {
        count_ = count;
        grain_ = std::max<std::size_t>(grain, 1);
        body_ = std::ref(body);
        next_.store(0, std::memory_order::relaxed);
        started_.fetch_add(1, std::memory_order::release);
        open_ = true;
        helper_.wake();
        work();
        open_ = false;
        if (helping_) {
            leader_.sleep();
        }
        ended_.fetch_add(1, std::memory_order::acquire);
    }

    /// A thread's whole part in one compaction, or in other work by this executor: number 0 leads it, any
    /// other serves its loops.
    template <class Pool>
    void compact(Pool& objects, unsigned index) {
        lead_or_serve(index, [&] { objects.compact(*this); });
    }
    template <class Work>
    void lead_or_serve(unsigned index, Work work) {
        if (index == 0) {
            work();
            dismiss();
        } else {
            serve();
        }
    }

private:
    // Takes part in loops until dismiss().
    void serve() {
        while (true) {
            if (open_) {
                helping_ = true;
                started_.fetch_add(0, std::memory_order::acquire);
                work();
                ended_.fetch_add(1, std::memory_order::release);
                helping_ = false;
                open_ = false; // nothing is left of this loop
                leader_.wake();
            } else if (dismissed_) {
                return;
            } else {
                helper_.sleep();
            }
        }
    }
    void dismiss() {
        dismissed_ = true;
        helper_.wake();
    }

    /// A thread that may be asleep. No memory is ordered by that.
    class sleeper {
    public:
        void sleep() {
            const own_exceptions exceptions;
            thread_ = rl::ctx().current_thread();
            asleep_ = true;
            rl::ctx().park_current_thread(false, false, false, {});
        }
        void wake() {
            if (asleep_) {
                asleep_ = false;
                rl::ctx().unpark_thread(thread_, false, {});
            }
        }

    private:
        rl::thread_id_t thread_ = 0;
        bool asleep_ = false;
    };

    void work() {
        while (true) {
            const std::size_t first =
                next_.fetch_add(grain_, std::memory_order::relaxed); // a ticket, no more
            if (first >= count_) {
                return;
            }
            body_(first, std::min<std::size_t>(count_, first + grain_));
        }
    }

    // Of the model, not of the program: threads change only at accesses to atomics.
    sleeper leader_;
    sleeper helper_;
    bool open_ = false;
    bool helping_ = false;
    bool dismissed_ = false;

    model_plain<std::size_t> count_;
    model_plain<std::size_t> grain_;
    std::function<void(std::size_t, std::size_t)> body_;
    model_atomic<std::size_t> next_;
    model_atomic<std::size_t> started_;
    model_atomic<std::size_t> ended_;
};

} // namespace handlepool::model

// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/policy.hpp>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <limits>
#include <mutex>
#include <thread>
#include <utility>

/// Threads that are stopped between any two of their atomic accesses.
namespace handlepool::support {

/// Runs a body in a thread of its own, and stops it before its n-th access (from 0) to a step_atomic. Its
/// maker then does what it likes, and lets the thread go on. Accesses by other threads are not counted.
///
///     stepper victim(3, [&] { list.claim(out, 2, 8); }); // returns when the body has stopped, or ended
///     ...
///     victim.finish();
class stepper {
public:
    static constexpr std::size_t never = std::numeric_limits<std::size_t>::max();
    static constexpr std::chrono::milliseconds for_ever = std::chrono::milliseconds::max();

    /// Waits no longer than `patience` for the body to stop or to end, here and in advance(): it may hang
    /// without making accesses.
    template <class Body>
    stepper(std::size_t stop_before, Body body, std::chrono::milliseconds patience = for_ever)
        : patience_(patience), stop_before_(stop_before), thread_([this, body = std::move(body)]() mutable {
              running = this;
              body();
              running = nullptr;
              const std::scoped_lock lock(mutex_);
              ended_ = true;
              changed_.notify_all();
          }) {
        wait();
    }
    /// A thread that is still stopped then goes on to its end.
    ~stepper() { finish(); }

    stepper(const stepper&) = delete;
    stepper& operator=(const stepper&) = delete;

    /// False when the body ended before it made that many accesses.
    bool stopped() {
        const std::scoped_lock lock(mutex_);
        return stopped_;
    }
    bool ended() {
        const std::scoped_lock lock(mutex_);
        return ended_;
    }
    /// Accesses made so far.
    std::size_t steps() {
        const std::scoped_lock lock(mutex_);
        return steps_;
    }

    /// Lets the body go on, and stops it again before another access.
    void advance(std::size_t accesses = 1) {
        go_on(accesses);
        wait();
    }
    /// Lets the body go on to its end, wherever it wants to be stopped, and does not wait for that.
    void release() {
        const std::scoped_lock lock(mutex_);
        released_ = true;
        stop_before_ = never;
        stopped_ = false;
        changed_.notify_all();
    }
    /// Lets the body go on to its end, and waits for that.
    void finish() {
        if (thread_.joinable()) {
            release();
            thread_.join();
        }
    }

    /// For the body: stops it before the n-th access from here, instead of where it was to be stopped.
    static void stop_after(std::size_t accesses) {
        const std::scoped_lock lock(running->mutex_);
        if (!running->released_) {
            running->stop_before_ = accesses == never ? never : running->steps_ + accesses;
        }
    }
    /// For the body: accesses made so far.
    static std::size_t taken() { return running->steps(); }

    /// Called by step_atomic before each access.
    static void step() noexcept {
        if (running != nullptr) {
            running->count_step();
        }
    }

private:
    void count_step() noexcept {
        std::unique_lock lock(mutex_);
        if (steps_ == stop_before_) {
            stopped_ = true;
            changed_.notify_all();
            changed_.wait(lock, [this] { return !stopped_; });
        }
        ++steps_;
    }

    void go_on(std::size_t accesses) {
        const std::scoped_lock lock(mutex_);
        stop_before_ = accesses == never ? never : steps_ + accesses;
        stopped_ = false;
        changed_.notify_all();
    }

    void wait() {
        std::unique_lock lock(mutex_);
        const auto there = [this] { return stopped_ || ended_; };
        if (patience_ == for_ever) {
            changed_.wait(lock, there);
        } else {
            changed_.wait_for(lock, patience_, there);
        }
    }

    inline static thread_local stepper* running = nullptr;

    std::mutex mutex_;
    std::condition_variable changed_;
    std::chrono::milliseconds patience_;
    std::size_t stop_before_;
    std::size_t steps_ = 0;
    bool stopped_ = false;
    bool ended_ = false;
    bool released_ = false;
    std::thread thread_; // last: it uses the others
};

/// std::atomic, each access of which can be stopped before it happens. All zero bytes are its initial state.
template <class T>
class step_atomic {
public:
    step_atomic() noexcept = default;
    constexpr step_atomic(T value) noexcept : value_(value) {} // NOLINT: implicit, like std::atomic's

    T load(std::memory_order order = std::memory_order::seq_cst) const noexcept {
        stepper::step();
        return value_.load(order);
    }
    void store(T value, std::memory_order order = std::memory_order::seq_cst) noexcept {
        stepper::step();
        value_.store(value, order);
    }
    T exchange(T value, std::memory_order order = std::memory_order::seq_cst) noexcept {
        stepper::step();
        return value_.exchange(value, order);
    }
    T fetch_add(T value, std::memory_order order = std::memory_order::seq_cst) noexcept {
        stepper::step();
        return value_.fetch_add(value, order);
    }
    T fetch_sub(T value, std::memory_order order = std::memory_order::seq_cst) noexcept {
        stepper::step();
        return value_.fetch_sub(value, order);
    }
    T fetch_and(T value, std::memory_order order = std::memory_order::seq_cst) noexcept {
        stepper::step();
        return value_.fetch_and(value, order);
    }
    T fetch_or(T value, std::memory_order order = std::memory_order::seq_cst) noexcept {
        stepper::step();
        return value_.fetch_or(value, order);
    }
    bool compare_exchange_strong(T& expected, T value, std::memory_order success,
                                 std::memory_order failure) noexcept {
        stepper::step();
        return value_.compare_exchange_strong(expected, value, success, failure);
    }
    /// Never fails without a reason, so that the steps of a body can be counted.
    bool compare_exchange_weak(T& expected, T value, std::memory_order success,
                               std::memory_order failure) noexcept {
        return compare_exchange_strong(expected, value, success, failure);
    }
    bool compare_exchange_weak(T& expected, T value, std::memory_order order) noexcept {
        stepper::step();
        return value_.compare_exchange_strong(expected, value, order);
    }

private:
    std::atomic<T> value_{};
};

/// Policy of pools and parts whose threads can be stopped. Combine it with others as in tiny_policy<2,
/// step_policy>.
struct step_policy : default_policy {
    template <class T>
    using atomic = step_atomic<T>;
};

} // namespace handlepool::support

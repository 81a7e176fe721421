// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <span>
#include <vector>

namespace handlepool::detail {

/// A delta, and the frames between which it lies.
struct published_delta {
    std::uint64_t before = 0;
    std::uint64_t frame = 0;
    std::vector<std::byte> bytes{};
};

/// What bytes say of themselves, with a copy of them. Linear. Throws invalid_snapshot for bytes that are no
/// delta, and std::bad_alloc.
HANDLEPOOL_EXPORT published_delta read_published_delta(std::span<const std::byte> bytes);

/// Deltas on their way from the thread of the frames to the one that publishes them.
class HANDLEPOOL_EXPORT delta_queue {
public:
    /// Of any thread. Throws std::bad_alloc; then nothing has changed.
    void push(published_delta delta);

    /// The same, unless more bytes than these would wait then. Returns whether it is there; the first one
    /// always is.
    bool try_push(published_delta delta, std::size_t most_bytes);

    /// Ends all waits, now and later. Of any thread.
    void stop() noexcept;

    /// Ends one wait, now or the next. Of any thread.
    void wake() noexcept;

    /// Returns when there is a delta, when the time has come, and after wake() or stop(). This and what
    /// follows are of the thread that publishes.
    void wait_until(std::chrono::steady_clock::time_point time);
    /// The same whether there is a delta or not.
    void pause_until(std::chrono::steady_clock::time_point time);

    bool is_stopped() const noexcept;

    /// The oldest one, or null. It stays where it is until pop().
    const published_delta* front() const noexcept;
    void pop() noexcept;

    /// So many bytes wait.
    std::size_t bytes() const noexcept;

private:
    void add(published_delta delta); // under the mutex

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<published_delta> deltas_;
    std::size_t bytes_ = 0;
    bool is_woken_ = false;
    bool is_stopped_ = false;
};

} // namespace handlepool::detail

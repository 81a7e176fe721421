// SPDX-License-Identifier: MIT
#include "delta_frames.hpp"

#include <handlepool/detail/followers/delta_queue.hpp>
#include <handlepool/detail/snapshots/snapshot_reader.hpp>

#include <utility>

namespace handlepool::detail {

published_delta read_published_delta(std::span<const std::byte> bytes) {
    const delta_frames frames = read_frames(blocks_of_delta(bytes, "in memory"));
    return {.before = frames.before, .frame = frames.after, .bytes = {bytes.begin(), bytes.end()}};
}

void delta_queue::push(published_delta delta) {
    {
        const std::lock_guard lock(mutex_);
        add(std::move(delta));
    }
    changed_.notify_one();
}

bool delta_queue::try_push(published_delta delta, std::size_t most_bytes) {
    {
        const std::lock_guard lock(mutex_);
        if (!deltas_.empty() && (bytes_ > most_bytes || delta.bytes.size() > most_bytes - bytes_)) {
            return false;
        }
        add(std::move(delta));
    }
    changed_.notify_one();
    return true;
}

void delta_queue::add(published_delta delta) {
    const std::size_t size = delta.bytes.size();
    deltas_.push_back(std::move(delta));
    bytes_ += size;
}

void delta_queue::stop() noexcept {
    {
        const std::lock_guard lock(mutex_);
        is_stopped_ = true;
    }
    changed_.notify_one();
}

void delta_queue::wake() noexcept {
    {
        const std::lock_guard lock(mutex_);
        is_woken_ = true;
    }
    changed_.notify_one();
}

void delta_queue::wait_until(std::chrono::steady_clock::time_point time) {
    std::unique_lock lock(mutex_);
    changed_.wait_until(lock, time, [this] { return is_woken_ || is_stopped_ || !deltas_.empty(); });
    is_woken_ = false;
}

void delta_queue::pause_until(std::chrono::steady_clock::time_point time) {
    std::unique_lock lock(mutex_);
    changed_.wait_until(lock, time, [this] { return is_woken_ || is_stopped_; });
    is_woken_ = false;
}

bool delta_queue::is_stopped() const noexcept {
    const std::lock_guard lock(mutex_);
    return is_stopped_;
}

const published_delta* delta_queue::front() const noexcept {
    const std::lock_guard lock(mutex_);
    return deltas_.empty() ? nullptr : &deltas_.front();
}

void delta_queue::pop() noexcept {
    const std::lock_guard lock(mutex_);
    bytes_ -= deltas_.front().bytes.size();
    deltas_.pop_front(); // its memory goes back under the lock, which nobody holds for long
}

std::size_t delta_queue::bytes() const noexcept {
    const std::lock_guard lock(mutex_);
    return bytes_;
}

} // namespace handlepool::detail

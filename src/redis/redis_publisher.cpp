// SPDX-License-Identifier: MIT
#include "../shared/time_after.hpp"
#include "log_writer.hpp"

#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/redis/redis_publisher.hpp>
#include <handlepool/snapshots/frame_gap.hpp>

#include <condition_variable>
#include <exception>
#include <mutex>
#include <new>
#include <stdexcept>
#include <thread>
#include <utility>

namespace handlepool {

/// Runs a log_writer in a thread, and tells others how far it is.
class redis_publisher::writer {
public:
    writer(redis_address address, const std::string& name, const redis_lease& lease,
           const redis_publisher_options& options)
        : lease_(lease),
          writer_(std::move(address), name, lease, options, queue_),
          thread_([this] { run(); }) {}
    ~writer() {
        queue_.stop();
        thread_.join();
    }
    writer(const writer&) = delete;
    writer& operator=(const writer&) = delete;

    void begin(std::uint64_t frame, std::span<const std::byte> snapshot) {
        if (appended_) {
            detail::throw_exception(std::logic_error("redis_publisher::begin() is called once"));
        }
        if (lease_.frame && *lease_.frame != frame) {
            detail::throw_exception(
                std::invalid_argument("the log ends at frame " + std::to_string(*lease_.frame) +
                                      ", and can't go on from frame " + std::to_string(frame)));
        }
        const std::uint64_t history = lease_.frame ? lease_.history : detail::new_history();
        auto world = std::make_unique<detail::published_world>(
            snapshot, detail::frame_position{.frame = frame, .history = history});
        {
            const std::lock_guard lock(mutex_);
            throw_what_was_wrong();
            begun_ = std::move(world);
        }
        appended_ = frame;
        queue_.wake();
    }

    void append(std::span<const std::byte> bytes) {
        if (!appended_) {
            detail::throw_exception(std::logic_error("redis_publisher::begin() was not called"));
        }
        detail::published_delta delta = detail::read_published_delta(bytes);
        if (delta.before != *appended_) {
            detail::throw_exception(frame_gap("the delta leads from frame " + std::to_string(delta.before) +
                                                  " to frame " + std::to_string(delta.frame) +
                                                  "; one from frame " + std::to_string(*appended_) +
                                                  " is expected",
                                              *appended_, delta.before));
        }
        {
            const std::lock_guard lock(mutex_);
            throw_what_was_wrong();
        }
        const std::uint64_t frame = delta.frame;
        queue_.push(std::move(delta));
        appended_ = frame;
    }

    bool wait(std::uint64_t frame, std::chrono::milliseconds timeout) {
        std::unique_lock lock(mutex_);
        changed_.wait_until(lock, detail::time_after(timeout),
                            [&] { return error_ != nullptr || (frame_ && *frame_ >= frame); });
        if (frame_ && *frame_ >= frame) {
            return true;
        }
        throw_what_was_wrong();
        return false;
    }

    bool release(std::chrono::milliseconds timeout) {
        const auto until = detail::time_after(timeout);
        if (appended_ && !wait(*appended_, timeout)) {
            return false;
        }
        std::unique_lock lock(mutex_);
        throw_what_was_wrong();
        is_to_release_ = true;
        lock.unlock();
        queue_.wake();
        lock.lock();
        changed_.wait_until(lock, until, [this] { return error_ != nullptr; });
        is_to_release_ = false;
        return error_ != nullptr && is_released_;
    }

    std::optional<std::uint64_t> frame() const {
        const std::lock_guard lock(mutex_);
        return frame_;
    }

    std::string problem() const {
        const std::lock_guard lock(mutex_);
        return problem_;
    }

private:
    static constexpr auto time_to_try_again = std::chrono::milliseconds(20);

    void run() noexcept {
        while (!queue_.is_stopped()) {
            try {
                const auto next = step();
                note(writer_.problem().c_str());
                if (writer_.end()) {
                    queue_.wait_until(next);
                } else {
                    queue_.pause_until(next); // nothing is sent before a snapshot is there
                }
            } catch (const redis_error& error) {
                try_again_after(error.what());
            } catch (const std::bad_alloc&) {
                try_again_after("out of memory");
            } catch (...) {
                note("");
                const std::lock_guard lock(mutex_);
                error_ = std::current_exception();
                changed_.notify_all();
                return;
            }
        }
    }

    detail::log_writer::clock::time_point step() {
        bool is_to_release = false;
        {
            const std::lock_guard lock(mutex_);
            if (begun_ != nullptr) {
                writer_.begin(std::move(begun_));
            }
            is_to_release = is_to_release_;
        }
        if (is_to_release) {
            writer_.release();
            const std::lock_guard lock(mutex_);
            is_released_ = true;
            detail::throw_exception(lease_lost("the lease " + lease_.id + " was given up"));
        }
        return writer_.step();
    }

    /// What a step has come to: one that has failed may have appended a frame before.
    void note(const char* problem) noexcept {
        const std::lock_guard lock(mutex_);
        if (const auto end = writer_.end()) {
            frame_ = end->frame;
        }
        try {
            problem_ = problem;
        } catch (const std::bad_alloc&) {
            problem_.clear();
        }
        changed_.notify_all();
    }

    void try_again_after(const char* problem) noexcept {
        note(problem);
        queue_.pause_until(std::chrono::steady_clock::now() + time_to_try_again);
    }

    void throw_what_was_wrong() const {
        if (error_ != nullptr) {
            std::rethrow_exception(error_);
        }
    }

    const redis_lease lease_;
    std::optional<std::uint64_t> appended_; // of the thread of the frames, as are public functions

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::unique_ptr<detail::published_world> begun_; // until the thread has it
    std::optional<std::uint64_t> frame_;
    std::string problem_;
    std::exception_ptr error_; // ends the thread
    bool is_to_release_ = false;
    bool is_released_ = false;

    detail::delta_queue queue_;
    detail::log_writer writer_; // of the thread
    std::thread thread_;
};

redis_publisher::redis_publisher(redis_address address, std::string name, const redis_lease& lease,
                                 redis_publisher_options options) {
    if (options.snapshot_every == 0) {
        detail::throw_exception(
            std::invalid_argument("a snapshot after every 0 frames; at least 1 is allowed"));
    }
    if (!detail::is_allowed(lease.time_to_live)) {
        detail::throw_exception(
            std::invalid_argument("a lease that redis_follower::try_take_over() did not give"));
    }
    writer_ = std::make_unique<writer>(std::move(address), name, lease, options);
}

redis_publisher::~redis_publisher() = default;

void redis_publisher::begin(std::uint64_t frame, std::span<const std::byte> snapshot) {
    writer_->begin(frame, snapshot);
}

void redis_publisher::append(std::span<const std::byte> delta) {
    writer_->append(delta);
}

bool redis_publisher::wait(std::uint64_t frame, std::chrono::milliseconds timeout) {
    return writer_->wait(frame, timeout);
}

bool redis_publisher::release(std::chrono::milliseconds timeout) {
    return writer_->release(timeout);
}

std::optional<std::uint64_t> redis_publisher::frame() const {
    return writer_->frame();
}

std::string redis_publisher::problem() const {
    return writer_->problem();
}

} // namespace handlepool

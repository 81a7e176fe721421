// SPDX-License-Identifier: MIT
#include "redis_log.hpp"

#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/detail/followers/frame_position.hpp>
#include <handlepool/redis/redis_follower.hpp>
#include <handlepool/snapshots/invalid_snapshot.hpp>

#include <algorithm>
#include <stdexcept>
#include <thread>
#include <utility>

namespace handlepool {

namespace {

using follower_clock = std::chrono::steady_clock;
constexpr auto time_between_looks = std::chrono::milliseconds(10); // at a log that was not begun

} // namespace

struct redis_follower::state {
    state(redis_address address, const std::string& log_name, redis_follower_options chosen)
        : log(std::move(address), log_name), name("the log " + log_name), options(chosen) {}

    /// Nothing if the log was not begun until then, or has too large a snapshot.
    std::optional<frame_message> join(follower_clock::time_point until) {
        for (;;) {
            if (const auto stored = log.snapshot()) {
                if (stored->bytes > options.most_snapshot_bytes) {
                    problem = name + ": the snapshot of frame " + std::to_string(stored->position.frame) +
                              " has " + std::to_string(stored->bytes) + " bytes; " +
                              std::to_string(options.most_snapshot_bytes) + " are allowed";
                    std::this_thread::sleep_until(until);
                    return std::nullopt;
                }
                if (auto bytes = log.read(*stored)) {
                    position = stored->position;
                    return frame_message{
                        .is_snapshot = true, .frame = position->frame, .bytes = std::move(*bytes)};
                }
            }
            const auto now = follower_clock::now();
            if (now >= until) {
                return std::nullopt;
            }
            std::this_thread::sleep_until(std::min(until, now + time_between_looks));
        }
    }

    std::optional<frame_message> go_on(follower_clock::time_point until) {
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(until - follower_clock::now());
        auto delta = log.delta_behind(position->frame, options.most_delta_bytes, left);
        if (!delta) {
            const auto end = log.end();
            if (end == position) {
                return std::nullopt;
            }
            if (end &&
                end->frame > position->frame) { // by a delta that has come meanwhile, unless it is gone
                delta = log.delta_behind(position->frame, options.most_delta_bytes, {});
            }
        }
        if (!delta || detail::history_after(position->history, delta->bytes) != delta->position.history) {
            position.reset();
            return join(until);
        }
        position = delta->position;
        return frame_message{.frame = position->frame, .bytes = std::move(delta->bytes)};
    }

    detail::redis_log log;
    std::string name;
    redis_follower_options options;
    std::optional<detail::frame_position> position; // of the last message
    std::string problem;
};

redis_follower::redis_follower(redis_address address, std::string name, redis_follower_options options)
    : state_(std::make_unique<state>(std::move(address), name, options)) {}

redis_follower::~redis_follower() = default;
redis_follower::redis_follower(redis_follower&& other) noexcept = default;
redis_follower& redis_follower::operator=(redis_follower&& other) noexcept = default;

std::optional<frame_message> redis_follower::next(std::chrono::milliseconds timeout) {
    const auto until = follower_clock::now() + timeout;
    state_->problem.clear();
    try {
        return state_->position ? state_->go_on(until) : state_->join(until);
    } catch (const redis_error& error) {
        state_->problem = error.what();
    }
    std::this_thread::sleep_until(
        until); // who calls in a loop does not mean to call a dead server all the time
    return std::nullopt;
}

bool redis_follower::follow(replica& world, std::chrono::milliseconds timeout) {
    const auto message = next(timeout);
    if (!message) {
        return false;
    }
    try {
        receive(world, *message, state_->name);
        return true;
    } catch (const invalid_snapshot& error) {
        rejoin();
        if (message->is_snapshot) {
            throw;
        }
        state_->problem = error.what();
        return false;
    } catch (...) {
        rejoin();
        throw;
    }
}

std::optional<redis_lease> redis_follower::try_take_over(std::string_view holder,
                                                         std::chrono::milliseconds time_to_live) {
    if (time_to_live < std::chrono::milliseconds(1)) {
        detail::throw_exception(std::invalid_argument("a lease of " + std::to_string(time_to_live.count()) +
                                                      " milliseconds; at least 1 is allowed"));
    }
    state_->problem.clear();
    try {
        return state_->log.take(state_->position, holder, time_to_live);
    } catch (const redis_error& error) {
        state_->problem = error.what();
        return std::nullopt;
    }
}

void redis_follower::rejoin() noexcept {
    state_->position.reset();
}

std::optional<std::uint64_t> redis_follower::frame() const noexcept {
    return state_->position ? std::optional(state_->position->frame) : std::nullopt;
}

const std::string& redis_follower::problem() const noexcept {
    return state_->problem;
}

} // namespace handlepool

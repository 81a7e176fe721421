// SPDX-License-Identifier: MIT
#include "../shared/time_after.hpp"
#include "redis_log.hpp"

#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/detail/followers/frame_position.hpp>
#include <handlepool/detail/text/text.hpp>
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
constexpr auto time_to_try_again = std::chrono::milliseconds(100); // after a problem
constexpr auto longest_wait = std::chrono::seconds(1);             // until a server that is gone is noticed

} // namespace

struct redis_follower::state {
    state(redis_address address, const std::string& log_name, redis_follower_options chosen)
        : log(std::move(address), log_name),
          name("the log " + detail::printable(log_name)),
          options(chosen) {}

    /// Nothing if the log was not begun, or problem says what is wrong with its snapshot.
    std::optional<frame_message> join() {
        auto stored = log.snapshot();
        if (!stored) {
            return std::nullopt;
        }
        if (stored->key == dead_end) {
            problem = name + ": the deltas behind the snapshot of frame " +
                      std::to_string(stored->position.frame) + " are not there";
            return std::nullopt;
        }
        const std::string which = name + ": the snapshot of frame " + std::to_string(stored->position.frame);
        if (stored->bytes > options.most_snapshot_bytes) {
            problem = which + " has " + std::to_string(stored->bytes) + " bytes; " +
                      std::to_string(options.most_snapshot_bytes) + " are allowed";
            return std::nullopt;
        }
        auto bytes = log.read(*stored);
        if (!bytes) {
            problem = which + " is not there";
            return std::nullopt;
        }
        position = stored->position;
        joined = std::move(stored->key);
        return frame_message{.is_snapshot = true, .frame = position->frame, .bytes = std::move(*bytes)};
    }

    /// Waits until then, but not for long at once.
    std::optional<frame_message> go_on(follower_clock::time_point until) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - follower_clock::now());
        auto delta = log.delta_behind(position->frame, options.most_delta_bytes,
                                      std::min<std::chrono::milliseconds>(left, longest_wait));
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
            dead_end = std::exchange(joined, {});
            return join();
        }
        position = delta->position;
        joined.clear();
        return frame_message{.frame = position->frame, .bytes = std::move(delta->bytes)};
    }

    detail::redis_log log;
    std::string name;
    redis_follower_options options;
    std::optional<detail::frame_position> position; // of the last message
    std::string joined;                             // the snapshot's key, if that was the last message
    std::string dead_end;                           // the one from which there was no way on
    std::string problem;
};

redis_follower::redis_follower(redis_address address, std::string name, redis_follower_options options)
    : state_(std::make_unique<state>(std::move(address), name, options)) {}

redis_follower::~redis_follower() = default;
redis_follower::redis_follower(redis_follower&& other) noexcept = default;
redis_follower& redis_follower::operator=(redis_follower&& other) noexcept = default;

std::optional<frame_message> redis_follower::next(std::chrono::milliseconds timeout) {
    const auto until = detail::time_after(timeout);
    for (;;) {
        state_->problem.clear();
        try {
            if (auto message = state_->position ? state_->go_on(until) : state_->join()) {
                return message;
            }
        } catch (const redis_error& error) {
            state_->problem = error.what();
        }
        const auto now = follower_clock::now();
        auto again = now;
        if (!state_->problem.empty()) {
            again += time_to_try_again;
        } else if (!state_->position) { // else the server has waited
            again += time_between_looks;
        }
        if (again >= until) {
            std::this_thread::sleep_until(until);
            return std::nullopt;
        }
        std::this_thread::sleep_until(again);
    }
}

bool redis_follower::follow(replica& world, std::chrono::milliseconds timeout) {
    const auto until = detail::time_after(timeout);
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
        std::this_thread::sleep_until(std::min(until, follower_clock::now() + time_to_try_again));
        return false;
    } catch (...) {
        rejoin();
        throw;
    }
}

std::optional<redis_lease> redis_follower::try_take_over(std::string_view holder,
                                                         std::chrono::milliseconds time_to_live) {
    if (!detail::is_allowed(time_to_live)) {
        detail::throw_exception(std::invalid_argument("a lease of " + std::to_string(time_to_live.count()) +
                                                      " milliseconds; " +
                                                      std::string(detail::allowed_times)));
    }
    state_->problem.clear();
    try {
        const auto lease = state_->log.take(state_->position, holder, time_to_live);
        if (lease) {
            rejoin(); // what the program plays from here on is no frame that was followed
        }
        return lease;
    } catch (const redis_error& error) {
        state_->problem = error.what();
        return std::nullopt;
    }
}

void redis_follower::rejoin() noexcept {
    state_->position.reset();
    state_->dead_end.clear();
}

std::optional<std::uint64_t> redis_follower::frame() const noexcept {
    return state_->position ? std::optional(state_->position->frame) : std::nullopt;
}

const std::string& redis_follower::problem() const noexcept {
    return state_->problem;
}

} // namespace handlepool

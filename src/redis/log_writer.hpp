// SPDX-License-Identifier: MIT
#pragma once

#include "redis_log.hpp"

#include <handlepool/detail/followers/delta_queue.hpp>
#include <handlepool/detail/followers/frame_position.hpp>
#include <handlepool/detail/followers/published_world.hpp>
#include <handlepool/redis/redis_lease.hpp>
#include <handlepool/redis/redis_publisher.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace handlepool::detail {

/// What the thread of a publisher does, step by step: it sends what waits in a queue, and snapshots between,
/// in pieces, so that no delta waits for a whole one.
///
/// ```
///   queue ─▶ published_world ─▶ append ─▶ log
///                  └─ every so many frames: save ─▶ store, store, ... publish
/// ```
///
/// Where the log does not end where it should, because the server has forgotten frames, or too many have
/// waited, it begins again there with a snapshot.
class log_writer {
public:
    using clock = std::chrono::steady_clock;

    log_writer(redis_address address, std::string_view name, const redis_lease& lease,
               const redis_publisher_options& options, delta_queue& queue);

    /// What the log is to go on from.
    void begin(std::unique_ptr<published_world> world);

    /// Does one thing that is to be done, and returns when to come again, at the latest. Throws redis_error,
    /// lease_lost, what replay::apply() does, and std::bad_alloc.
    clock::time_point step();

    /// Gives the lease up. Throws redis_error and lease_lost.
    void release();

    /// Where the log ends for certain; nothing before it was begun.
    std::optional<frame_position> end() const noexcept { return end_; }

    /// Why the last try to send a snapshot has failed, until one does not.
    const std::string& problem() const noexcept { return upload_problem_; }

private:
    /// A snapshot on its way.
    struct upload {
        stored_snapshot stored;
        std::vector<std::byte> bytes;
        std::size_t sent = 0;
    };

    /// With a snapshot.
    void begin_again() noexcept;
    void forget_what_waits();
    void append(const published_delta& delta);
    bool is_snapshot_due() const noexcept;
    void begin_upload();
    void go_on_with_upload();
    /// One of the two. An error puts off the next try, ever longer, while deltas go on.
    void upload_or_put_off();
    /// Returns whether it was done; else the log is not as it should be. Throws lease_lost.
    bool accept(const log_answer& answer);

    redis_log log_;
    redis_lease lease_;
    redis_publisher_options options_;
    delta_queue& queue_;
    std::unique_ptr<published_world> world_; // with the oldest delta of the queue, once that was sent
    std::optional<frame_position> end_;
    std::optional<std::uint64_t> snapshot_frame_; // of the log's last one, whoever made it
    std::optional<upload> upload_;
    clock::time_point upload_from_; // no earlier,
    clock::duration pause_{};       // because of the last error
    std::string upload_problem_;
    clock::time_point renewal_; // when it is due
};

} // namespace handlepool::detail

// SPDX-License-Identifier: MIT
#pragma once

#include "redis_connection.hpp"

#include <handlepool/detail/followers/frame_position.hpp>
#include <handlepool/redis/redis_address.hpp>
#include <handlepool/redis/redis_lease.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace handlepool::detail {

/// The longest time that a lease may have, or a server for its answer.
constexpr std::chrono::milliseconds longest_time = std::chrono::hours(24);
/// As messages have it.
constexpr std::string_view allowed_times = "1 to 86400000 are allowed";

constexpr bool is_allowed(std::chrono::milliseconds time) noexcept {
    return time >= std::chrono::milliseconds(1) && time <= longest_time;
}

/// A snapshot that is in the server, as a value of its own.
struct stored_snapshot {
    std::string key;
    std::uint64_t bytes = 0;
    frame_position position{};
    std::uint64_t layout = 0; // as replay::layout() has it; not read
};

/// A frame that is in the log.
struct logged_delta {
    frame_position position{};
    std::vector<std::byte> bytes{};
};

/// How the log answers the holder of a lease.
struct log_answer {
    enum class kind {
        done,
        fenced,   ///< the lease is another's; `text` is its id, and empty if nobody has one
        released, ///< the holder itself has given it up
        other,    ///< the log ends elsewhere, at the frame in `text`
        lost      ///< the server has forgotten pieces of the snapshot
    };
    kind type = kind::done;
    std::string text{};
};

/// The log of one name, as it is in the server: docs/redis_format.md. Connects when it is used, and again
/// after an error. All functions throw redis_error and std::bad_alloc; a change may have happened then.
class redis_log {
public:
    redis_log(redis_address address, std::string_view name);

    /// Where it ends.
    std::optional<frame_position> end();
    /// The snapshot for those who begin.
    std::optional<stored_snapshot> snapshot();
    /// Reads that, if it is still there and has no more bytes.
    std::optional<std::vector<std::byte>> read(const stored_snapshot& snapshot);
    /// The first delta behind that frame, for which it waits so long; it has no more bytes.
    std::optional<logged_delta> delta_behind(std::uint64_t frame, std::size_t most_bytes,
                                             std::chrono::milliseconds wait);

    /// Takes the lease, if nobody has it and the log ends there.
    std::optional<redis_lease> take(std::optional<frame_position> end, std::string_view holder,
                                    std::chrono::milliseconds time_to_live);

    // Those of who has the lease. Each renews it.
    /// Appends a delta. If the log ends behind it already, it is the same one, whose answer was lost.
    log_answer append(const redis_lease& lease, frame_position before, frame_position after,
                      std::string_view delta);
    log_answer renew(const redis_lease& lease);
    /// Stores a piece of a snapshot, which the server forgets in a while unless it is published.
    log_answer store(const redis_lease& lease, const std::string& key, std::uint64_t offset,
                     std::string_view piece);
    /// Makes it the one for those who begin, if the log ends there. With no end, the log ends at the snapshot
    /// from now on, and has no deltas.
    log_answer publish(const redis_lease& lease, const stored_snapshot& snapshot,
                       std::optional<frame_position> end);
    log_answer release(const redis_lease& lease);

    /// A key for a snapshot of that frame, which no other one has.
    std::string new_snapshot_key(std::uint64_t frame) const;

private:
    void connect();
    redis_reply call(std::span<const std::string_view> command, std::size_t most_bytes = 0,
                     std::chrono::milliseconds later = {});
    redis_reply call(std::initializer_list<std::string_view> command, std::size_t most_bytes = 0,
                     std::chrono::milliseconds later = {}) {
        return call(std::span(command.begin(), command.size()), most_bytes, later);
    }
    /// `snapshot_key` is any key where the script has no snapshot.
    log_answer call_as_holder(std::string_view script, const redis_lease& lease,
                              std::string_view snapshot_key,
                              std::initializer_list<std::string_view> arguments);
    [[noreturn]] void refuse_content(std::string_view problem);

    redis_address address_;
    std::string prefix_; // in braces: so a cluster has all keys of a log in one place
    std::string log_;    // a hash: where the log ends, who may append, which snapshot there is
    std::string lease_;  // the id of the lease, as long as it lives
    std::string frames_; // a stream of deltas
    std::optional<redis_connection> connection_;
    std::uint64_t connections_ = 0; // so many were there
};

} // namespace handlepool::detail

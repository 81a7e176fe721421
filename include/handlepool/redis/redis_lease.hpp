// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

namespace handlepool {

/// The right to append to a log of frames. One process has it; when that has not been heard of for so long,
/// another one may take it, from the frame where the log ends. It is for one redis_publisher.
struct redis_lease {
    std::uint64_t token = 0; ///< larger than that of each earlier lease of the log
    std::string id{};        ///< in the log: the token, and a random number, for a log that was set back
    std::chrono::milliseconds time_to_live{0}; ///< so long without a word, and another one may take it
    std::optional<std::uint64_t> frame{};      ///< where the log ends; nothing if it was never begun, or lost
    std::uint64_t history = 0;                 ///< what led there: a hash of all deltas
    /// Of the log's snapshot, if it has one from which followers can go on.
    std::optional<std::uint64_t> snapshot_frame{};
    std::uint64_t snapshot_layout = 0; ///< of that, as replay::layout() has it
};

/// Another process has taken the lease, or it was given up: what this one has not published yet never will
/// be, and the handles that it gave out since can become those of other objects. Whoever wants to go on
/// follows the log again, from a snapshot.
class HANDLEPOOL_EXPORT lease_lost : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

} // namespace handlepool

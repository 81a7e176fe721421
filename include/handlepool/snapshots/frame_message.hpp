// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace handlepool {

class replica;

/// What a follower is sent, by whatever carries it: a snapshot to begin with, and the delta of each frame
/// since.
struct frame_message {
    bool is_snapshot = false;       ///< else a delta, which leads to `frame`
    std::uint64_t frame = 0;        ///< of the world, once it was received
    std::vector<std::byte> bytes{}; ///< for replica::load() or apply(), or for a replay
};

/// Loads a message into a replica, or applies it there. Throws what these do. What the replica does not
/// follow, replica::passed_over() says.
HANDLEPOOL_EXPORT void receive(replica& world, const frame_message& message,
                               std::string_view origin = "in memory");

} // namespace handlepool

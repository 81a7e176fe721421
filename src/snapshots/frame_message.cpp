// SPDX-License-Identifier: MIT
#include <handlepool/snapshots/frame_message.hpp>
#include <handlepool/snapshots/replica.hpp>

namespace handlepool {

void receive(replica& world, const frame_message& message, std::string_view origin) {
    if (message.is_snapshot) {
        world.load(message.bytes, message.frame, origin);
    } else {
        world.apply(message.bytes, origin);
    }
}

} // namespace handlepool

// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace handlepool {

/// Where a publisher is heard, and where it answers, as ZeroMQ writes addresses: `tcp://127.0.0.1:5556`,
/// `ipc:///run/game/deltas`.
///
/// Nothing there is encrypted, and nobody has to say who he is: whoever reaches these addresses reads the
/// world, and whoever takes them is believed. So they are those of this machine unless you say otherwise;
/// between machines, use a tunnel such as WireGuard, stunnel or `ssh -L`, or a network of your own.
struct zeromq_endpoints {
    std::string deltas = "tcp://127.0.0.1:5556";    ///< where the publisher is heard
    std::string snapshots = "tcp://127.0.0.1:5557"; ///< where it answers followers that begin
};

} // namespace handlepool

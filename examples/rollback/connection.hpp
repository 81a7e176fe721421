// SPDX-License-Identifier: MIT
#pragma once

#include "world.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <mutex>
#include <random>
#include <utility>
#include <vector>

namespace rollback {

/// What one player sends to the other in each frame.
struct packet {
    std::uint64_t acknowledged; // the last frame whose input has arrived, as have those of all before it
    std::uint64_t first;        // the frame of the first of these inputs
    std::vector<buttons> inputs;
};

struct connection_quality {
    unsigned delay;  // in frames
    unsigned jitter; // frames that a packet may take longer, or less long
    unsigned loss;   // packets of a hundred
};

/// One direction of the network between them: packets get lost, and overtake each other. One thread sends,
/// another receives.
class connection {
public:
    connection(std::uint32_t seed, const connection_quality& quality) : random_(seed), quality_(quality) {}

    void send(std::uint64_t now, packet sent) {
        const bool is_lost = random_() % 100 < quality_.loss;
        const std::uint64_t early = now + quality_.delay - std::min(quality_.delay, quality_.jitter);
        const std::uint64_t arrival = early + random_() % (2 * quality_.jitter + 1);
        if (!is_lost) {
            const std::lock_guard lock(mutex_);
            // At the earliest in the next frame: so what is received doesn't depend on which thread is
            // faster.
            under_way_.emplace(std::max(arrival, now + 1), std::move(sent));
        }
    }

    /// All that has arrived by now, the earliest first.
    std::vector<packet> receive(std::uint64_t now) {
        std::vector<packet> arrived;
        const std::lock_guard lock(mutex_);
        const auto end = under_way_.upper_bound(now);
        for (auto each = under_way_.begin(); each != end; ++each) {
            arrived.push_back(std::move(each->second));
        }
        under_way_.erase(under_way_.begin(), end);
        return arrived;
    }

private:
    std::minstd_rand random_;
    connection_quality quality_;
    std::mutex mutex_;
    std::multimap<std::uint64_t, packet> under_way_; // by the frame in which they arrive
};

} // namespace rollback

// SPDX-License-Identifier: MIT
#pragma once

#include "results/report.hpp"
#include "run/executors/frame_executor.hpp"
#include "trace.hpp"

#include <cstddef>
#include <cstdint>

namespace handlepool::stress {

struct replay_options {
    std::size_t threads = 0;  // 0: as many as the trace has
    double frame_ms = 16.6;   // of recorded time
    std::size_t lookups = 64; // of each kind, by each thread in each frame
    std::uint64_t seed = 1;
    std::size_t sample = 1; // check the histories of one slot in this many
    service_setting service{};
};

// Replays a trace on a pool: each allocation is an emplace, each free an erase, by the thread that made it,
// in the order of the trace within a thread and around each object; frames are cut by recorded time, with a
// compaction after each. On fewer threads than recorded, each stands in for several; on more, several share
// the objects of one. Throws what the pool throws, std::invalid_argument if the frames are too many, and
// std::runtime_error if it needs more memory or threads than there are.
report replay(const trace& recorded, const replay_options& options);

} // namespace handlepool::stress

// SPDX-License-Identifier: MIT
#pragma once

#include "results.hpp"
#include "served_contender.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace handlepool_bench::peers {

/// What is to be measured.
struct plan {
    std::vector<known_contender> contenders;
    std::vector<std::string> parts; ///< of the comparison: some of all_parts
    std::vector<std::size_t> sizes;
    std::vector<unsigned> threads;
    std::size_t rounds;  ///< beside one to warm up
    std::size_t objects; ///< at least, in each task of a round
};

/// - frames: create, erase and the end of a frame, find, iteration; each number of objects with one and with
///   two threads, and each number of threads with 100,000 objects. With one thread and another number of
///   objects, only the pools among those that several threads can use;
/// - latency: of single operations, with 100,000 objects, one and two threads;
/// - memory: beside the objects, loaded in one frame, and after 30 frames; 100,000 and 1,000,000 objects;
/// - start: making a container and loading it with 100,000 objects, in a process that has done nothing else.
inline const std::vector<std::string> all_parts{"frames", "latency", "memory", "start"};

/// Carries it out: contenders take turns, round by round. Shows its progress on a terminal. Throws
/// std::runtime_error if a contender fails.
results measure(const plan& wanted);

} // namespace handlepool_bench::peers

// SPDX-License-Identifier: MIT
#pragma once

#include "model.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace handlepool::model {

/// In which way executions are chosen.
enum class strategy : std::uint8_t {
    random,     ///< threads, old values and spurious failures by chance
    bounded,    ///< all executions with so many preemptions at the most
    exhaustive, ///< all executions
};

struct search_options {
    strategy how = strategy::random;
    unsigned preemptions = 2;         ///< of a bounded search
    std::uint64_t executions = 10000; ///< at the most
    double seconds = 1e9;             ///< at the most
    bool tell_history = false;        ///< print the execution that failed
    /// The first thread stops before this access of its own, from 0, until all others have ended.
    std::optional<std::size_t> stop_before{};
};

struct search_result {
    bool passed = true;
    std::string failure; ///< what went wrong
    std::uint64_t executions = 0;
    bool complete = false; ///< were all executions run that the strategy has?
    double seconds = 0;
    bool stopped = false; ///< did the first thread come to where it was to be stopped, in some execution?
};

search_result search(const model_entry& which, const search_options& options);

} // namespace handlepool::model

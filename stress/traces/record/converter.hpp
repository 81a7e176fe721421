// SPDX-License-Identifier: MIT
#pragma once

#include "raw_log.hpp"
#include "recorder.hpp"
#include "traces/trace.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>

namespace handlepool::stress {

// Makes the trace of raw events, within the limits of the options. Addresses become objects; a free of an
// unknown address is dropped and counted; an allocation of an address that is in use means that its free
// wasn't seen: one is put before it and counted. The command is left empty.
class converter {
public:
    // `start_ns` is the clock's value at the beginning of the recording.
    converter(std::uint64_t start_ns, const record_options& options);

    // The next events in their order. What comes after the limit is left out.
    void add(std::span<const raw_log::event> events);

    // The trace, once. `end_ns` is the clock's value at the end of the recording. Without it the trace is the
    // beginning of the program's run, and ends with its last event.
    trace finish(std::optional<std::uint64_t> end_ns);

private:
    bool add(const raw_log::event& raw);
    std::uint64_t since_start(std::uint64_t time_ns) const;

    std::uint64_t start_ns_;
    std::uint64_t event_limit_;
    std::uint64_t time_ns_{}; // of the last event
    std::uint32_t allocations_{};
    std::unordered_map<std::uint64_t, std::uint32_t> objects_{}; // alive, by address
    std::unordered_map<std::uint32_t, std::uint32_t> threads_{};
    trace result_;
};

} // namespace handlepool::stress

#pragma once

#include "../trace.hpp"
#include "raw_log.hpp"

#include <cstdint>
#include <span>

namespace handlepool::stress {

// Where a conversion ends: the trace is the beginning of what was recorded then.
struct conversion_limits {
    std::uint64_t events;
    std::uint64_t time_resolution_ns;
};

// The trace of the raw `events` in their order. `start_ns` and `end_ns` are the clock's values at the
// beginning and the end of the recording. Addresses become objects; a free of an unknown address is dropped
// and counted; an allocation of an address that is in use means that its free wasn't seen: one is put before
// it and counted. The command is left empty.
trace convert(std::span<const raw_log::event> events, std::uint64_t start_ns, std::uint64_t end_ns,
              const conversion_limits& limits);

} // namespace handlepool::stress

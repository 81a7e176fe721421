// SPDX-License-Identifier: MIT
#include "trace.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace handlepool::stress {

namespace {

std::string_view unit_of(trace_place place) {
    switch (place) {
    case trace_place::file:
        return "file byte";
    case trace_place::content:
        return "content byte";
    case trace_place::event:
        return "event";
    }
    return "position";
}

} // namespace

trace_error::trace_error(std::string_view file, trace_place place, std::uint64_t offset,
                         std::string_view problem, std::string_view allowed)
    : std::runtime_error(
          fmt::format("{}: {} {}: {} (allowed: {})", file, unit_of(place), offset, problem, allowed)),
      place_(place),
      offset_(offset) {}

trace_summary summarize(const trace& recorded) {
    struct owner {
        std::uint32_t thread;
        std::uint32_t size;
    };
    std::vector<owner> owners;
    trace_summary sum{.events = recorded.events.size(), .duration_ns = recorded.header.duration_ns};
    std::uint64_t alive_bytes = 0;
    for (const trace_event& event : recorded.events) {
        sum.threads = std::max(sum.threads, std::uint64_t{event.thread()} + 1);
        if (event.kind() == event_kind::allocate) {
            ++sum.allocations;
            owners.push_back({event.thread(), event.size()});
            alive_bytes += event.size();
        } else {
            const owner& freed = owners[event.object()];
            ++sum.frees;
            alive_bytes -= freed.size;
            if (freed.thread != event.thread()) {
                ++sum.cross_thread_frees;
            }
        }
        sum.peak_alive = std::max(sum.peak_alive, sum.allocations - sum.frees);
        sum.peak_alive_bytes = std::max(sum.peak_alive_bytes, alive_bytes);
    }
    return sum;
}

} // namespace handlepool::stress

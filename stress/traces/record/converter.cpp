// SPDX-License-Identifier: MIT
#include "converter.hpp"

#include <algorithm>
#include <utility>

namespace handlepool::stress {

converter::converter(std::uint64_t start_ns, const record_options& options)
    : start_ns_(start_ns),
      event_limit_(options.event_limit),
      result_{.header = {.time_resolution_ns = options.time_resolution_ns}} {}

void converter::add(std::span<const raw_log::event> events) {
    for (const raw_log::event& raw : events) {
        result_.header.truncated = result_.header.truncated || !add(raw);
    }
}

trace converter::finish(std::optional<std::uint64_t> end_ns) {
    trace_header& header = result_.header;
    header.truncated = header.truncated || !end_ns;
    header.duration_ns = header.truncated
                             ? time_ns_
                             : std::max(time_ns_, std::min(since_start(*end_ns), trace_event::max_time_ns));
    return std::move(result_);
}

std::uint64_t converter::since_start(std::uint64_t time_ns) const {
    return time_ns - std::min(time_ns, start_ns_);
}

// Whether it, or what it means, is within the limits.
bool converter::add(const raw_log::event& raw) {
    trace_header& header = result_.header;
    const auto what = raw.what.load(std::memory_order_acquire); // (3) synchronizes with (2)
    const bool is_free = what == raw_log::kind::free;
    if (!is_free && what != raw_log::kind::allocate) { // the program ended while it was writing this one
        return true;
    }
    const auto known = objects_.find(raw.address);
    if (is_free && known == objects_.end()) {
        ++header.dropped_frees;
        return true;
    }
    const bool infer_free = !is_free && known != objects_.end();
    // A thread may be overtaken between taking its place and reading the clock: times are made not to go
    // back.
    const std::uint64_t since = since_start(raw.time_ns);
    const std::uint64_t time = std::max(time_ns_, since - since % header.time_resolution_ns);
    const std::uint32_t thread =
        threads_.try_emplace(raw.thread, static_cast<std::uint32_t>(threads_.size())).first->second;
    if (result_.events.size() + (infer_free ? 2 : 1) > event_limit_ || time > trace_event::max_time_ns ||
        thread > trace_event::max_thread) {
        return false;
    }
    time_ns_ = time;
    header.inferred_frees += infer_free ? 1U : 0U;
    if (known != objects_.end()) {
        result_.events.push_back(trace_event::free(time, thread, known->second));
        objects_.erase(known);
    }
    if (!is_free) {
        const auto size = std::min<std::uint64_t>(raw.size, trace_event::max_size);
        result_.events.push_back(
            trace_event::allocate(time, thread, allocations_, static_cast<std::uint32_t>(size)));
        objects_.emplace(raw.address, allocations_++);
    }
    return true;
}

} // namespace handlepool::stress

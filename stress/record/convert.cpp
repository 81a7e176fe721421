#include "recorder.hpp"

#include <algorithm>
#include <unordered_map>

namespace handlepool::stress {

trace convert(std::span<const raw_log::event> events, std::uint64_t start_ns, std::uint64_t end_ns,
              const record_options& options) {
    const auto since_start = [start_ns](std::uint64_t time_ns) {
        return time_ns - std::min(time_ns, start_ns);
    };
    trace result{.header = {.time_resolution_ns = options.time_resolution_ns}};
    trace_header& header = result.header;
    std::unordered_map<std::uint64_t, std::uint32_t> objects; // alive, by address
    std::unordered_map<std::uint32_t, std::uint32_t> threads;
    std::uint32_t allocations = 0;
    std::uint64_t time_ns = 0;
    for (const raw_log::event& raw : events) {
        const auto what = raw.what.load(std::memory_order_acquire); // (3) synchronizes with (2)
        if (what == raw_log::kind::none) { // the program ended while it was writing this one
            continue;
        }
        const bool is_free = what == raw_log::kind::free;
        const auto known = objects.find(raw.address);
        if (is_free && known == objects.end()) {
            ++header.dropped_frees;
            continue;
        }
        const bool infer_free = !is_free && known != objects.end();
        // A thread may be overtaken between taking its place and reading the clock: times are made not to go
        // back.
        const std::uint64_t since = since_start(raw.time_ns);
        const std::uint64_t time = std::max(time_ns, since - since % options.time_resolution_ns);
        const std::uint32_t thread =
            threads.try_emplace(raw.thread, static_cast<std::uint32_t>(threads.size())).first->second;
        if (result.events.size() + (infer_free ? 2 : 1) > options.event_limit ||
            time > trace_event::max_time_ns || thread > trace_event::max_thread) {
            header.truncated = true;
            break;
        }
        time_ns = time;
        header.inferred_frees += infer_free ? 1U : 0U;
        if (known != objects.end()) {
            result.events.push_back(trace_event::free(time, thread, known->second));
            objects.erase(known);
        }
        if (!is_free) {
            const auto size = std::min<std::uint64_t>(raw.size, trace_event::max_size);
            result.events.push_back(
                trace_event::allocate(time, thread, allocations, static_cast<std::uint32_t>(size)));
            objects.emplace(raw.address, allocations++);
        }
    }
    const std::uint64_t whole = std::min(since_start(end_ns), trace_event::max_time_ns);
    header.duration_ns = header.truncated ? time_ns : std::max(time_ns, whole);
    return result;
}

} // namespace handlepool::stress

#include "raw_log_reader.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace handlepool::stress {

namespace {

class converter {
public:
    converter(std::uint64_t start_ns, const conversion_limits& limits)
        : start_ns_(start_ns), limits_(limits) {
        trace_.header.time_resolution_ns = limits.time_resolution_ns;
    }

    // Takes the next raw event; false if a limit keeps it out of the trace.
    bool take(const raw_log::event& raw) {
        const auto what = raw.what.load(std::memory_order_acquire); // (3) synchronizes with (2)
        if (what == raw_log::kind::none) { // the program ended while it was writing this one
            return true;
        }
        const auto known = objects_.find(raw.address);
        if (what == raw_log::kind::free && known == objects_.end()) {
            ++trace_.header.dropped_frees;
            return true;
        }
        const bool infer_free = what == raw_log::kind::allocate && known != objects_.end();
        if (trace_.events.size() + (infer_free ? 2 : 1) > limits_.events || !advance(raw.time_ns)) {
            return false;
        }
        const auto thread = threads_.try_emplace(raw.thread, static_cast<std::uint32_t>(threads_.size()));
        if (thread.first->second > trace_event::max_thread) {
            return false;
        }
        add(what, thread.first->second, raw, known);
        trace_.header.inferred_frees += infer_free ? 1 : 0;
        return true;
    }

    trace finish(bool truncated, std::uint64_t end_ns) {
        trace_.header.truncated = truncated;
        const std::uint64_t whole = std::min(end_ns - std::min(end_ns, start_ns_), trace_event::max_time_ns);
        trace_.header.duration_ns = truncated ? time_ns_ : std::max(time_ns_, whole);
        return std::move(trace_);
    }

private:
    using object_map = std::unordered_map<std::uint64_t, std::uint32_t>;

    // A thread may be overtaken between taking its place and reading the clock: times are made not to go
    // back.
    bool advance(std::uint64_t raw_ns) {
        const std::uint64_t since = raw_ns - std::min(raw_ns, start_ns_);
        const std::uint64_t rounded = since - since % limits_.time_resolution_ns;
        time_ns_ = std::max(time_ns_, rounded);
        return time_ns_ <= trace_event::max_time_ns;
    }

    void add(raw_log::kind what, std::uint32_t thread, const raw_log::event& raw,
             object_map::iterator known) {
        if (known != objects_.end()) {
            trace_.events.push_back(trace_event::free(time_ns_, thread, known->second));
            objects_.erase(known);
        }
        if (what == raw_log::kind::allocate) {
            const auto size = std::min<std::uint64_t>(raw.size, trace_event::max_size);
            trace_.events.push_back(
                trace_event::allocate(time_ns_, thread, allocations_, static_cast<std::uint32_t>(size)));
            objects_.emplace(raw.address, allocations_++);
        }
    }

    std::uint64_t start_ns_;
    conversion_limits limits_;
    trace trace_;
    object_map objects_; // alive, by address
    std::unordered_map<std::uint32_t, std::uint32_t> threads_;
    std::uint32_t allocations_{};
    std::uint64_t time_ns_{};
};

} // namespace

trace convert(std::span<const raw_log::event> events, std::uint64_t start_ns, std::uint64_t end_ns,
              const conversion_limits& limits) {
    converter conversion(start_ns, limits);
    bool whole = true;
    for (const raw_log::event& raw : events) {
        if (whole = conversion.take(raw); !whole) {
            break;
        }
    }
    return conversion.finish(!whole, end_ns);
}

} // namespace handlepool::stress

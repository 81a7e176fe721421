#include "trace_checker.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace handlepool::stress {

auto trace_checker::accept(const wide_event& event) -> std::optional<violation> {
    if (auto bad = accept_time(event.time_ns)) {
        return bad;
    }
    if (auto bad = accept_thread(event.thread)) {
        return bad;
    }
    return event.kind == event_kind::allocate ? accept_allocate(event) : accept_free(event);
}

auto trace_checker::accept_time(std::uint64_t time_ns) -> std::optional<violation> {
    const std::uint64_t latest = std::min(header_.duration_ns, trace_event::max_time_ns);
    if (time_ns < time_ns_ || time_ns > latest || time_ns % header_.time_resolution_ns != 0) {
        return violation{fmt::format("the time is {} ns", time_ns),
                         fmt::format("multiples of {} ns from {} ns, the time of the event before, to {} ns",
                                     header_.time_resolution_ns, time_ns_, latest)};
    }
    time_ns_ = time_ns;
    return std::nullopt;
}

auto trace_checker::accept_thread(std::uint64_t thread) -> std::optional<violation> {
    const std::uint64_t last = std::min<std::uint64_t>(threads_, trace_event::max_thread);
    if (thread > last) {
        return violation{
            fmt::format("the thread is {}", thread),
            fmt::format("0 to {}: threads are numbered in the order of their first event", last)};
    }
    threads_ = std::max(threads_, thread + 1);
    return std::nullopt;
}

auto trace_checker::accept_allocate(const wide_event& event) -> std::optional<violation> {
    if (event.object != alive_.size() || event.object > trace_event::max_object) {
        return violation{fmt::format("object {} is allocated", event.object),
                         fmt::format("object {}: the n-th allocation makes object n, up to {}", alive_.size(),
                                     trace_event::max_object)};
    }
    if (event.size > trace_event::max_size) {
        return violation{fmt::format("{} bytes are allocated", event.size),
                         fmt::format("0 to {} bytes", trace_event::max_size)};
    }
    alive_.push_back(true);
    return std::nullopt;
}

auto trace_checker::accept_free(const wide_event& event) -> std::optional<violation> {
    if (event.object >= alive_.size()) {
        return violation{fmt::format("object {} is freed, but it was never allocated", event.object),
                         fmt::format("an object that is alive; {} were allocated before", alive_.size())};
    }
    if (!alive_[event.object]) {
        return violation{fmt::format("object {} is freed, but it was freed before", event.object),
                         "an object that is alive"};
    }
    if (event.size != 0) {
        return violation{fmt::format("the free of object {} has the size {}", event.object, event.size), "0"};
    }
    alive_[event.object] = false;
    return std::nullopt;
}

} // namespace handlepool::stress

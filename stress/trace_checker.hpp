#pragma once

#include "trace.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace handlepool::stress {

// The rules of a trace, for the reader and the writer alike: fed with one event after the other.
class trace_checker {
public:
    // What is wrong with an event, and what would be right.
    struct violation {
        std::string problem;
        std::string allowed;
    };

    // An event before it is known to fit into a trace_event.
    struct wide_event {
        std::uint64_t time_ns;
        std::uint64_t thread;
        event_kind kind;
        std::uint64_t object;
        std::uint64_t size;
    };

    // Keeps a reference to `header`.
    explicit trace_checker(const trace_header& header) : header_(header) {}

    // Takes `event` as the next one of the trace, or says why it can't be.
    std::optional<violation> accept(const wide_event& event);

    std::uint64_t threads() const noexcept { return threads_; }
    std::uint64_t allocations() const noexcept { return alive_.size(); }

private:
    std::optional<violation> accept_time(std::uint64_t time_ns);
    std::optional<violation> accept_thread(std::uint64_t thread);
    std::optional<violation> accept_allocate(const wide_event& event);
    std::optional<violation> accept_free(const wide_event& event);

    const trace_header& header_;
    std::uint64_t time_ns_{};
    std::uint64_t threads_{};
    std::vector<bool> alive_; // by object id
};

} // namespace handlepool::stress

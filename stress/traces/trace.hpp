// SPDX-License-Identifier: MIT
#pragma once

// A trace is what a real program asked of its allocator: every allocation and every free, in order, with the
// thread that made it. Traces are recorded by traces/record/recorder.hpp and kept in files (TRACE_FORMAT.md).

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace handlepool::stress {

enum class event_kind : std::uint8_t { allocate, free };

// One event of a trace, 16 bytes, because traces have millions of them.
class trace_event {
public:
    static constexpr std::uint64_t max_time_ns = (std::uint64_t{1} << 47) - 1; // 39 hours
    static constexpr std::uint32_t max_thread = 0xffff;
    static constexpr std::uint32_t max_size = 0xffff'ffff;
    static constexpr std::uint32_t max_object = 0xffff'ffff;

    // Thread `thread` has got object `object` of `size` bytes, `time_ns` nanoseconds after the start.
    // The time and the thread must not exceed the limits above.
    static constexpr trace_event allocate(std::uint64_t time_ns, std::uint32_t thread, std::uint32_t object,
                                          std::uint32_t size) {
        return trace_event{time_ns, thread, event_kind::allocate, object, size};
    }

    // Thread `thread` gives object `object` back.
    static constexpr trace_event free(std::uint64_t time_ns, std::uint32_t thread, std::uint32_t object) {
        return trace_event{time_ns, thread, event_kind::free, object, 0};
    }

    constexpr std::uint64_t time_ns() const { return packed_ >> 17; }
    constexpr std::uint32_t thread() const { return static_cast<std::uint32_t>(packed_ >> 1) & max_thread; }
    constexpr event_kind kind() const { return static_cast<event_kind>(packed_ & 1); }
    // The n-th allocation of a trace makes object n, counted from 0: an id is never used twice.
    constexpr std::uint32_t object() const { return object_; }
    // In bytes; 0 for a free.
    constexpr std::uint32_t size() const { return size_; }

    friend constexpr bool operator==(const trace_event&, const trace_event&) = default;

private:
    constexpr trace_event(std::uint64_t time_ns, std::uint32_t thread, event_kind kind, std::uint32_t object,
                          std::uint32_t size)
        : packed_(time_ns << 17 | std::uint64_t{thread} << 1 | static_cast<std::uint64_t>(kind)),
          object_(object),
          size_(size) {}

    std::uint64_t packed_; // time: 47 bits, thread: 16, kind: 1
    std::uint32_t object_;
    std::uint32_t size_;
};

static_assert(sizeof(trace_event) == 16);

// What is known of a trace besides its events.
struct trace_header {
    static constexpr std::size_t max_arguments = 1 << 16;
    static constexpr std::size_t max_command_bytes = 1 << 20; // of all arguments

    std::vector<std::string> command{};  // the recorded program and its arguments
    std::uint64_t time_resolution_ns{1}; // every time in the trace is a multiple of it
    std::uint64_t duration_ns{};         // not less than the time of the last event
    std::uint64_t dropped_frees{};       // frees of what was allocated before the recording: not in the trace
    std::uint64_t inferred_frees{}; // frees that weren't seen, put in where their address was allocated anew
    bool truncated{};               // the recording ended, as at its limit, before the program did

    friend bool operator==(const trace_header&, const trace_header&) = default;
};

// A complete trace. Threads are numbered from 0 in the order in which they first appear, objects in the order
// of their allocation, times never go back, and only objects that are alive are freed.
struct trace {
    trace_header header{};
    std::vector<trace_event> events{};

    friend bool operator==(const trace&, const trace&) = default;
};

// Figures of a trace.
struct trace_summary {
    std::uint64_t events{};
    std::uint64_t threads{};
    std::uint64_t allocations{};
    std::uint64_t frees{};
    std::uint64_t cross_thread_frees{}; // by another thread than the one that allocated
    std::uint64_t peak_alive{};         // objects
    std::uint64_t peak_alive_bytes{};
    std::uint64_t duration_ns{};
};

// The figures of `recorded`, which must be valid, in time and memory linear in its events.
trace_summary summarize(const trace& recorded);

// What an offset in a trace_error counts.
enum class trace_place {
    file,    // bytes of the file as it is on disk
    content, // bytes of what the file decompresses to
    event    // events of a trace in memory
};

// A trace that can't be read or written. what() names the file, the position, what is wrong and what is
// allowed.
class trace_error : public std::runtime_error {
public:
    trace_error(std::string_view file, trace_place place, std::uint64_t offset, std::string_view problem,
                std::string_view allowed);

    trace_place place() const noexcept { return place_; }
    std::uint64_t offset() const noexcept { return offset_; }

private:
    trace_place place_;
    std::uint64_t offset_;
};

} // namespace handlepool::stress

#pragma once

// The file through which the recording library, inside the recorded program, hands its events to the
// recorder. Both map it, so whatever the program's end is like, the events up to then are there. It never
// outlives a recording, and both sides run on one machine: the layout is that of these structs.

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace handlepool::stress::raw_log {

// The number of the file descriptor of the log, in the environment of the recorded program.
inline constexpr char descriptor_variable[] = "HANDLEPOOL_RECORD_FD";

inline constexpr std::uint64_t magic = 0x31676f6c77617268; // "hrawlog1"

enum class kind : std::uint32_t { none, allocate, free };

struct header {
    std::uint64_t magic;                // by the recorder
    std::uint64_t capacity;             // by the recorder: events that fit
    std::atomic<std::int32_t> owner;    // the process that records, 0 before there is one
    std::atomic<std::int32_t> error;    // why the library couldn't map the log: an errno value
    std::atomic<std::uint32_t> threads; // threads that have made events
    std::uint32_t reserved;
    std::uint64_t start_ns;                      // CLOCK_MONOTONIC when the recording began
    alignas(64) std::atomic<std::uint64_t> next; // the place of the next event; may run past the capacity
};

// The order of the events is their order in the file.
struct event {
    std::uint64_t time_ns; // CLOCK_MONOTONIC
    std::uint64_t address;
    std::uint64_t size;
    std::uint32_t thread;   // from 0, in the order of arrival
    std::atomic<kind> what; // written last; none where the program ended before
};

static_assert(sizeof(event) == 32);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free && std::atomic<kind>::is_always_lock_free);

inline constexpr std::size_t bytes_for(std::uint64_t events) {
    return sizeof(header) + events * sizeof(event);
}

} // namespace handlepool::stress::raw_log

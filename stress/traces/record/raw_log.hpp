// SPDX-License-Identifier: MIT
#pragma once

// The log through which the recording library, inside the recorded program, hands its events to the recorder.
// The program maps it: memory, so that a full disk can't harm the program, and of the recorder, so that what
// the program has written is there whatever its end is like. The recorder moves it to a file of the same
// layout, step by step. Both sides run on one machine: the layout is that of these structs.
//
//     header | command line (in the file) | events | spare bytes (in the file)
//
// The file is sparse. The spare bytes are taken in step with the events, and given back in the end: on a full
// disk they are the room for the trace.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace handlepool::stress::raw_log {

// The number of the file descriptor of the log, in the environment of the recorded program.
inline constexpr char descriptor_variable[] = "HANDLEPOOL_RECORD_FD";

inline constexpr std::uint64_t magic = 0x34676f6c77617268; // "hrawlog4"

enum class kind : std::uint32_t { none, allocate, free };

// The order of the events is their order in the log.
struct event {
    std::uint64_t time_ns; // CLOCK_MONOTONIC
    std::uint64_t address;
    std::uint64_t size;
    std::uint32_t thread;   // from 0, in the order of arrival
    std::atomic<kind> what; // written last; none where the program ended before
};

struct header {
    std::uint64_t magic;                         // by the recorder, as are the next two
    std::uint64_t capacity;                      // events that fit
    std::uint64_t command_bytes;                 // of the command line: each argument ends with a zero
    std::uint64_t start_ns;                      // CLOCK_MONOTONIC when the recording began
    std::atomic<std::int32_t> process;           // the one to be recorded, by itself before it executes
    std::atomic<std::int32_t> owner;             // the same, once it records; 0 before
    std::atomic<std::int32_t> error;             // why the library couldn't map the log: an errno value
    std::atomic<std::uint32_t> threads;          // threads that have made events
    std::atomic<std::uint32_t> is_full;          // by the recorder, if the disk has no room for more: not 0
    std::atomic<std::uint64_t> written;          // by the recorder: the events that are in the file
    alignas(64) std::atomic<std::uint64_t> next; // the place of the next event; may run past the capacity
    alignas(64) std::atomic<std::uint64_t> replaced_ns; // when the program replaced itself by another, or 0
    char replaced_by[4096 - 256];                       // the file that it executed then
    std::atomic<std::uint32_t> forks;                   // its calls of fork, also those in vain
    char new_without_malloc[64]; // the library whose operator new calls no malloc, or nothing
};

static_assert(sizeof(event) == 32 && sizeof(header) == 4096);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free && std::atomic<kind>::is_always_lock_free);

// ---- Where things are
// --------------------------------------------------------------------------------------

inline constexpr std::uint64_t events_in_step = 8192;
inline constexpr std::uint64_t bytes_in_step = events_in_step * sizeof(event);
inline constexpr std::uint64_t bytes_for_one_spare = 8; // a trace needs a tenth, rarely an eighth
inline constexpr std::uint64_t spares_in_step = bytes_in_step / bytes_for_one_spare;

constexpr std::uint64_t steps_for(std::uint64_t events) {
    return (events + events_in_step - 1) / events_in_step;
}

constexpr std::uint64_t events_at(const header& log) {
    constexpr std::uint64_t page = 4096;
    return sizeof(header) + (log.command_bytes + page - 1) / page * page;
}

// The end of what is in memory too.
constexpr std::uint64_t spares_at(const header& log) {
    return events_at(log) + steps_for(log.capacity) * bytes_in_step;
}

constexpr std::uint64_t bytes_for(const header& log) {
    return spares_at(log) + steps_for(log.capacity) * spares_in_step;
}

inline std::uint64_t events_in(const header& log) {
    return std::min(log.next.load(std::memory_order_relaxed), log.capacity);
}

// In a log that is mapped.
inline event& event_in(header& log, std::uint64_t place) {
    return reinterpret_cast<event*>(reinterpret_cast<unsigned char*>(&log) + events_at(log))[place];
}

} // namespace handlepool::stress::raw_log

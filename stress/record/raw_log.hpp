#pragma once

// The file through which the recording library, inside the recorded program, hands its events to the
// recorder. The program maps it, so whatever the program's end is like, the events up to then are there. Both
// sides run on one machine: the layout is that of these structs.
//
//     header | command line | blocks of events | spare blocks
//
// The file is sparse. A program that writes to a page of it for which the disk has no room is killed by
// SIGBUS. So the blocks are taken first, in steps, by calls that fail instead. The spare ones are taken in
// step with them, and given back in the end: on a full disk they are the room for the trace.

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace handlepool::stress::raw_log {

// The number of the file descriptor of the log, in the environment of the recorded program.
inline constexpr char descriptor_variable[] = "HANDLEPOOL_RECORD_FD";

inline constexpr std::uint64_t magic = 0x32676f6c77617268; // "hrawlog2"

enum class kind : std::uint32_t { none, allocate, free };

// The order of the events is their order in the file.
struct event {
    std::uint64_t time_ns; // CLOCK_MONOTONIC
    std::uint64_t address;
    std::uint64_t size;
    std::uint32_t thread;   // from 0, in the order of arrival
    std::atomic<kind> what; // written last; none where the program ended before
};

inline constexpr std::size_t events_in_block = 127;
inline constexpr std::uint64_t blocks_in_step = 64;
inline constexpr std::uint64_t blocks_for_one_spare = 8; // a trace needs a tenth, rarely an eighth

// A page of the file, or a part of one. How long ago it was taken is of no interest: the system writes that.
struct alignas(4096) block {
    timespec taken;
    alignas(32) event events[events_in_block];
};

struct header {
    std::uint64_t magic;                // by the recorder, as are the next three
    std::uint64_t capacity;             // events that fit
    std::uint64_t command_bytes;        // of the command line: each argument ends with a zero
    std::uint64_t start_ns;             // CLOCK_MONOTONIC when the recording began
    std::atomic<std::int32_t> owner;    // the process that records, 0 before there is one
    std::atomic<std::int32_t> error;    // why the library couldn't map the log: an errno value
    std::atomic<std::uint32_t> threads; // threads that have made events
    std::uint32_t reserved;
    std::atomic<std::uint64_t> taken; // the places before this one have blocks that were taken
    std::atomic<std::uint64_t> end;   // the first place that will stay empty: less than the capacity if
                                      // there was no room for more
    alignas(64) std::atomic<std::uint64_t> next;        // the place of the next event; may run past the end
    alignas(64) std::atomic<std::uint64_t> replaced_ns; // when the program replaced itself by another, or 0
    char replaced_by[4096 - 192];                       // the file that it executed then
};

static_assert(sizeof(event) == 32 && sizeof(block) == 4096 && sizeof(header) == 4096);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free && std::atomic<kind>::is_always_lock_free);

// ---- Where things are
// --------------------------------------------------------------------------------------

inline constexpr std::uint64_t events_in_step = blocks_in_step * events_in_block;
inline constexpr std::uint64_t spares_in_step = blocks_in_step / blocks_for_one_spare;

constexpr std::uint64_t steps_for(std::uint64_t events) {
    return (events + events_in_step - 1) / events_in_step;
}

constexpr std::uint64_t blocks_at(const header& log) {
    return sizeof(header) + (log.command_bytes + sizeof(block) - 1) / sizeof(block) * sizeof(block);
}

constexpr std::uint64_t spares_at(const header& log) {
    return blocks_at(log) + steps_for(log.capacity) * blocks_in_step * sizeof(block);
}

constexpr std::uint64_t bytes_for(const header& log) {
    return spares_at(log) + steps_for(log.capacity) * spares_in_step * sizeof(block);
}

inline std::uint64_t events_in(const header& log) {
    return std::min(log.next.load(std::memory_order_relaxed), log.end.load(std::memory_order_relaxed));
}

// ---- In a log that is mapped
// -------------------------------------------------------------------------------

inline block* block_in(header& log, std::uint64_t offset) {
    return reinterpret_cast<block*>(reinterpret_cast<unsigned char*>(&log) + offset);
}

inline event& event_in(header& log, std::uint64_t place) {
    return block_in(log, blocks_at(log))[place / events_in_block].events[place % events_in_block];
}

// Takes blocks: the system writes to each, and says so where it can't. What needs no file descriptor serves a
// program that closes all; to do it again does no harm.
inline bool take(block* first, std::uint64_t count) {
    for (block* each = first; each != first + count; ++each) {
        if (::syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &each->taken) != 0) {
            return false;
        }
    }
    return true;
}

// Whether the event at `place` may be written. Takes the steps up to it that are missing, or ends the log. Of
// several threads that come to the end of what was taken, each takes all that it needs: none waits for
// another. An event is where it is for good, and a page that was taken stays: the counts need no order.
inline bool has_room(header& log, std::uint64_t place) {
    std::uint64_t taken = log.taken.load(std::memory_order_relaxed);
    std::uint64_t end = log.end.load(std::memory_order_relaxed);
    while (taken <= place && place < end) {
        const std::uint64_t step = taken / events_in_step;
        if (take(block_in(log, blocks_at(log)) + step * blocks_in_step, blocks_in_step) &&
            take(block_in(log, spares_at(log)) + step * spares_in_step, spares_in_step)) {
            const std::uint64_t more = taken + events_in_step;
            if (log.taken.compare_exchange_strong(taken, more, std::memory_order_relaxed)) {
                taken = more;
            }
        } else if (log.end.compare_exchange_strong(end, std::min(end, taken), std::memory_order_relaxed)) {
            return false;
        }
    }
    return place < end;
}

} // namespace handlepool::stress::raw_log

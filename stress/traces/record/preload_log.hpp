// SPDX-License-Identifier: MIT
#pragma once

#include "raw_log.hpp"

#include <cstddef>
#include <cstdint>

// In front of each function that programs call instead of libc's.
#define HANDLEPOOL_INTERPOSED extern "C" [[gnu::visibility("default")]]

// The recording library's side of the raw log. All may be called in any thread, at any moment, leave errno
// alone, and do nothing in a process that isn't recorded.
namespace handlepool::stress::preload {

// Writes an event. After the log's end that is no event any more; the program goes on as ever.
void record(raw_log::kind what, const void* address, std::size_t size);

// The process is about to become another program, which will not be recorded.
void program_will_be_replaced(const char* file);
void program_was_not_replaced();

// Whether this process is recorded.
bool is_recorded();

// While it lives, the calling thread's events are counted instead of recorded.
class counted_events {
public:
    counted_events();
    ~counted_events();
    counted_events(const counted_events&) = delete;
    counted_events& operator=(const counted_events&) = delete;

    std::uint64_t so_far() const { return count_; }

private:
    std::uint64_t count_ = 0;
};

// What is created by that library's operator new leaves no event.
void operator_new_calls_no_malloc(const char* library);

// A thread has forbidden itself the processor's counter, and what it starts inherits that: from now on all
// events have times of some milliseconds' resolution.
void forgo_counter();

} // namespace handlepool::stress::preload

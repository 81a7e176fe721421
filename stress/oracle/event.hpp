// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace handlepool::stress {

// Nanoseconds of the monotonic clock.
using time_stamp = std::int64_t;

// What is timed; all but compact are also recorded.
enum class operation : std::uint8_t { emplace, erase, find, contains, compact };

inline constexpr std::array<std::string_view, 5> operation_names{"emplace", "erase", "find", "contains",
                                                                 "compact"};

constexpr std::string_view name_of(operation what) noexcept {
    return operation_names[static_cast<std::size_t>(what)];
}

// One operation on one handle: it took effect at some moment between its begin and its end.
struct event {
    std::uint64_t handle;
    time_stamp begin;
    time_stamp end;
    std::uint64_t content : 52; // number of the object that was created or found
    std::uint64_t what : 8;     // an operation
    std::uint64_t accepted : 1; // was the handle given out, erased, found?
    std::uint64_t wrong : 1;    // the caller knew that the answer had to be another
};

static_assert(sizeof(event) == 32);

} // namespace handlepool::stress

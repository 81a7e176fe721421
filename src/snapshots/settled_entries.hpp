// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/error.hpp>

namespace handlepool::detail {

/// Calls a step of all entries until none of them has anything to do: hooks of one pool may make objects in
/// another one. Throws what the step throws, and compaction_conflict with `problem` if there is always more.
template <class Entries, class Entry>
void repeat_until_settled(const Entries& entries, bool (Entry::*step)(), const char* problem) {
    constexpr int most_rounds = 16;
    bool any = true;
    for (int i = 0; any; ++i) {
        if (i == most_rounds) {
            throw_exception(compaction_conflict(problem));
        }
        any = false;
        for (const auto& each : entries) {
            any = (*each.*step)() || any;
        }
    }
}

} // namespace handlepool::detail

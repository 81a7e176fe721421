// SPDX-License-Identifier: MIT
#pragma once

#include "failures.hpp"
#include "types.hpp"

#include <handlepool/service.hpp>
#include <handlepool/stats.hpp>

#include <cstddef>

/// What pools and services have in common: guards, compactions and texts.
namespace handlepool::c {

/// Says what a compaction did, unless nobody asks.
template <class Stats>
void report(const Stats& stats, std::size_t pools, std::size_t skipped,
            handlepool_compaction* done) noexcept {
    if (done != nullptr) {
        *done = {.pools = pools,
                 .skipped = skipped,
                 .removed = stats.removed,
                 .born = stats.born,
                 .moved = stats.moved,
                 .retired = stats.retired,
                 .waiting_removals = stats.waiting_removals,
                 .waiting_newborns = stats.waiting_newborns,
                 .nanoseconds = static_cast<uint64_t>(stats.duration.count())};
    }
}
inline void report(const compaction_stats& stats, handlepool_compaction* done) noexcept {
    report(stats, 1, 0, done);
}
inline void report(const service_compaction& stats, handlepool_compaction* done) noexcept {
    report(stats, stats.pools, stats.skipped, done);
}

template <class Owner>
handlepool_error begin_access(Owner& owner, handlepool_guard& guard) noexcept {
    return error_of([&] { guard.held = owner.access().release(); });
}

/// Fails with `refusal` where access() would wait or fail.
template <class Owner>
handlepool_error try_begin_access(Owner& owner, handlepool_guard& guard, const char* refusal) noexcept {
    if (guard_type held = owner.try_access()) {
        guard.held = held.release();
        return HANDLEPOOL_OK;
    }
    return fail(HANDLEPOOL_ERROR_CONFLICT, refusal);
}

/// A copy, for handlepool_free_text(), of the text that `make()` returns; NULL when the call has failed.
template <class Make>
char* text_of(Make make) noexcept {
    char* text = nullptr;
    error_of([&] { text = copy_of(make()); });
    return text;
}

} // namespace handlepool::c

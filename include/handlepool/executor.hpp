// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/stats.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace handlepool {

/// Runs the loops of a compaction. `for_ranges(count, grain, body)` calls `body(first, last)` for ranges that
/// cover 0 to `count` exactly once, in any order, on any threads, at the same time or not, and returns when
/// all calls have returned; everything sequenced before for_ranges happens before the calls of `body`, and
/// these happen before for_ranges returns. Ranges shorter than `grain` are not worth a thread of their own.
/// The bodies are noexcept and for_ranges must not throw: a compaction can't stop half-way, and ends the
/// program instead. While for_ranges waits, its thread must not run other work that takes an access guard:
/// that would wait for the compaction.
///
/// An executor can also follow what the compacting thread does: see phase_listener.
template <class Executor>
concept executor = requires(Executor& run, std::size_t count, std::size_t grain,
                            void (*body)(std::size_t first, std::size_t last) noexcept) {
    run.for_ranges(count, grain, body);
};

/// The phases of a compaction, in their order; with the option `keep_order`, holes are filled before newborns
/// are collected. Where one thread does all, it collects what it destroys or places on the way, and the
/// phases of collection are empty.
enum class compaction_phase : std::uint8_t {
    collect_removals, ///< takes the records of removals from the shards
    destroy,          ///< ends the lives of the removed objects, where they are
    sweep,            ///< the same for those without a record: see pool_stats::sweeps
    collect_newborns, ///< finds the objects that were created since the last compaction
    place_newborns,   ///< moves them into holes, and after the last object
    fill_holes,       ///< moves survivors into the holes that are left, and cuts the store
    report_births,    ///< calls the hooks for births; only when there are any
    give_back,        ///< lets slots and nursery be used again
};

/// The readable name of a phase: "collect removals". Constant.
constexpr std::string_view name_of(compaction_phase phase) noexcept {
    constexpr std::string_view names[] = {"collect removals", "destroy",        "sweep",
                                          "collect newborns", "place newborns", "fill holes",
                                          "report births",    "give back"};
    return names[static_cast<std::size_t>(phase)];
}

/// An executor that the compacting thread also notifies: when the compaction of a pool begins, when each of
/// its phases begins, which ends the one before, and when it is over. The pool's name can be read until then.
/// begin_compaction may throw, and then the compaction does not begin; the others must not.
template <class Executor>
concept phase_listener =
    executor<Executor> &&
    requires(Executor& run, std::string_view pool, compaction_phase phase, const compaction_stats& stats) {
        run.begin_compaction(pool);
        run.begin_phase(phase);
        run.end_compaction(stats);
    };

/// Runs everything in the calling thread.
struct inline_executor {
    /// Calls `body(0, count)`, unless there is nothing to do. Any number of threads at the same time.
    template <class Body>
    void for_ranges(std::size_t count, std::size_t, Body&& body) const {
        if (count != 0) {
            body(std::size_t{0}, count);
        }
    }
};

static_assert(executor<inline_executor>);

} // namespace handlepool

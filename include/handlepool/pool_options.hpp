// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <string>

namespace handlepool {

/// The options of a pool. Only `capacity` has no useful default.
struct pool_options {
    /// Lets the pool choose an option's value; the option's comment says which it takes.
    static constexpr std::size_t automatic = (std::numeric_limits<std::size_t>::max)();

    /// Names the pool in messages and statistics. Any bytes: what is not UTF-8, and control characters, are
    /// replaced or escaped there.
    std::string name = "unnamed";

    /// Objects that the pool has room for, guaranteed: living ones and those erased since the last
    /// compaction. It may hold some more: the slots that idle threads have claimed and not used don't count
    /// against it.
    std::size_t capacity = 0;

    /// A slot is used again only after this many others were freed. Automatic: 1024, or what
    /// `slot_limit` leaves.
    std::size_t reuse_delay = automatic;

    /// Slots that the pool may ever put in service, those retired since included. When all are retired, the
    /// pool is used up. Automatic: four times the capacity, and what `reuse_delay` and idle threads need.
    /// A lower limit is kept strictly: near its end, idle threads may hold slots that others lack.
    std::size_t slot_limit = automatic;

    /// Removals that one thread can queue between two compactions; further ones are not lost, but make the
    /// next compaction look through all slots. Automatic: no limit but the pool's size.
    std::size_t removal_queue_size = automatic;

    /// Threads of the process that may use pools, this one or others, at the same time: a thread has one
    /// number for all of them, the lowest that was free at its first use. Costs address space only.
    std::size_t max_threads = 4096;

    /// Remember for each slot in which frames its last object was born and died, for describe() and reports.
    /// Costs 16 bytes per slot, and a few nanoseconds for each object of a compaction.
    bool remember_frames = false;

    /// Record for this many of each slot's last lives who began and ended them, when, and from where in the
    /// program: see pool_base::life_of(). Errors about stale handles and describe() say it then. Rounded up
    /// to a power of two; 0: nothing is recorded. Costs 32 bytes per slot and life and 24 for each removal
    /// that waits; two to four nanoseconds for each creation and erasure, some five in a compaction for each
    /// removal; and for a guard, if it is the only one of its thread, some forty.
    std::size_t record_lives = 0;

    /// So many callers of each recorded call are recorded too, 15 at most: those whose functions keep a frame
    /// pointer (`-fno-omit-frame-pointer`). For debugging: costs some 50 nanoseconds more.
    std::size_t record_stack = 0;

    /// Compactions keep the order of the dense store: survivors move down when others were removed, and
    /// newborns come after them. Then a compaction with removals is linear in what lies after the first
    /// of them, rather than in their number. Without effect where objects never move.
    bool keep_order = false;

    /// The most spawners that the pool has at a time; see pool_frames::spawners(): so many tasks create and
    /// erase at the same time, with an outcome that does not depend on how they run. Other calls that create
    /// are refused then, and checked builds report those that erase, except under exclusive access and by
    /// what a compaction calls. 0: no spawners.
    std::size_t spawners = 0;

    /// Where these options come from, for example a file; errors about them name it.
    std::string source = {};

    /// The id in the pool's handles; by default one that no living pool of the same layout has.
    std::optional<unsigned> pool_id = std::nullopt;
};

} // namespace handlepool

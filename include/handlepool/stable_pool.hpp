// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/compaction/stable_placement.hpp>
#include <handlepool/pool.hpp>

/// `stable_pool<T>` is a pool whose objects never move: an object's address holds for its life. It has the
/// functions of pool, and their results, threads, progress, errors and costs, but for these:
///
/// - T need not be movable, and then there is no insert(). A pointer to an object holds until its removal's
///   compaction: threads that know an object to be alive need not be ordered with compactions.
/// - The objects are not contiguous: there is no items(), no handle_at(), and nothing that sorts. Iteration
///   and for_each() skip the holes, 64 places at a time; handles(), entries() and living() are bidirectional
///   views.
/// - erase_if() and drain() go by slots, in time linear in the slots ever used.
/// - A compaction closes no holes. New objects fill them, those nearest to the front first.
/// - shrink_to_fit() gives back the memory of all holes that fill pages, wherever they lie. Linear in the
///   places ever used.

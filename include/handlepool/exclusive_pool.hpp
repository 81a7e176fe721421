// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/exclusive/exclusive_core.hpp>
#include <handlepool/fwd.hpp>
#include <handlepool/pool_base.hpp>

namespace handlepool {

/// Traits of a pool as one thread has it alone: those of `Traits` otherwise. `pool.exclusive_access()`
/// returns an `exclusive_pool`, which is a view of the pool with the same functions:
///
///     auto alone = ships.exclusive_access();
///     for (const order& each : orders) {
///         alone.emplace(each.name, each.crew);
///     }
///     alone.erase(sunk); // destroyed by now, and no longer in alone.items()
///
/// So a function template that takes a `pool<T, Traits>&` takes it too. Handles are those of the pool; what
/// they promise holds across the change to exclusive access and back. It differs from the pool in this:
///
/// - Nobody else may use the pool while the view lives: no other thread, and this one by the view. What needs
///   no more than the pool's name, id and capacity is free, and an access guard or a compaction of another
///   thread waits or is refused. A checked build reports the others. The view belongs to the thread that
///   made it, can be neither copied nor moved, and is no guard.
/// - erase() destroys the object at once, extract() delivers it at once, and items() has exactly the living
///   objects after each call. In a dense pool the last object fills the hole: all pointers are invalidated by
///   an erase, and none by a creation. In a stable pool each object stays where it is.
/// - A constructor, destructor, hook or sink may use the view or the pool. What it creates or erases takes
///   effect when the call that runs it ends; handles are right at once. compact() and its like throw
///   compaction_conflict there.
/// - Hooks are called at once too. With `keep_order`, erased objects are destroyed, and others move up, when
///   the store is looked at next, when room is needed, or when the view ends.
/// - There are no guards, and so no pin() and visit().
///
/// Progress: wait-free but for exclusive_access() itself, which waits for guards and compacts.
template <class Traits>
struct exclusive : Traits {};

} // namespace handlepool

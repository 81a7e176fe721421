// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/time.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

namespace handlepool {

/// The result of one compaction.
struct compaction_stats {
    std::size_t removed = 0; ///< objects destroyed
    std::size_t born = 0;    ///< newborns moved from the nursery into the dense store
    std::size_t moved = 0;   ///< survivors that changed their place, to close holes
    std::size_t retired = 0; ///< slots that were used up
    std::size_t swept = 0;   ///< of `removed`, those without a record: see pool_stats::sweeps
    std::size_t size = 0;    ///< objects in the dense store afterwards
    /// What waits for later compactions: erased objects, and objects in the nursery, erased ones among
    /// them. Without a budget, what came meanwhile.
    std::size_t waiting_removals = 0;
    std::size_t waiting_newborns = 0;
    std::chrono::nanoseconds duration{}; ///< of the whole
};

/// The result of a sort, or of a part of one.
struct sort_stats {
    std::size_t moved = 0;               ///< objects that changed their place
    std::size_t size = 0;                ///< objects in the dense store
    bool in_order = true;                ///< whether the dense store is in order now, equal objects included
    std::chrono::nanoseconds duration{}; ///< of the whole
};

/// A moment's view of a pool. While other threads work, each number is right by itself; at a quiescent point
/// all are, and then
///
///     created == alive + waiting_removals + destroyed
///     dense + newborn == alive + waiting_removals
///     slots_in_service == alive + waiting_removals + slots_free + slots_claimed + slots_reserved +
///                         slots_retired
struct pool_stats {
    std::string name;          ///< as in pool_options
    std::uint32_t pool_id = 0; ///< in the pool's handles
    std::size_t capacity = 0;  ///< as in pool_options

    std::size_t alive = 0;            ///< objects whose handles resolve
    std::size_t dense = 0;            ///< objects in the dense store: items().size()
    std::size_t newborn = 0;          ///< objects in the nursery
    std::size_t waiting_removals = 0; ///< objects that were erased and not yet destroyed
    std::uint64_t created = 0;        ///< objects ever created
    std::uint64_t destroyed = 0;      ///< objects ever destroyed

    std::size_t slots_in_service = 0; ///< slots that were ever used
    std::size_t slots_free = 0;       ///< of them, those that wait for their next object
    std::size_t slots_claimed = 0;    ///< held by shards for their next objects
    std::size_t slots_reserved = 0;   ///< of handles that were reserved, and neither fulfilled nor cancelled
    std::size_t slots_retired = 0;    ///< used up
    std::size_t slot_limit = 0;       ///< slots that may ever be put in service
    std::size_t reuse_delay = 0;      ///< a lower bound of the next
    /// The fewest other slots that were freed between the freeing of a slot and its reuse, so far; the
    /// largest std::size_t while none was reused.
    std::size_t smallest_reuse_distance = 0;

    std::size_t shards = 0;        ///< one more than the highest number of a thread that has used the pool
    std::uint64_t compactions = 0; ///< so far, skipped frames included
    /// Sweeps of compactions through all slots, begun after clear(), or an erase that could leave no record.
    std::uint64_t sweeps = 0;

    std::size_t bytes_reserved = 0;            ///< address space
    std::size_t bytes_resident = 0;            ///< memory in use, of which
    std::size_t bytes_resident_in_objects = 0; ///< for the objects themselves, in dense store and nursery
};

} // namespace handlepool

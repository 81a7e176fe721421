// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/memory/allocation_label.hpp>
#include <handlepool/detail/memory/memory_of.hpp>
#include <handlepool/detail/placement/newborn_chain.hpp>
#include <handlepool/detail/placement/owner_word.hpp>
#include <handlepool/detail/queues/chunk_store.hpp>
#include <handlepool/detail/slots/index_allocator.hpp>
#include <handlepool/memory_use.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>

namespace handlepool::detail {

/// The positions in which objects are created, shared by shards and compaction: the chunks that they lie in,
/// the owner of each, and the lists of those that are vacated.
///
/// ```
///  shard.vacant ──▶ position 9 ──links[9]──▶ position 4 ──links[4]──▶ none
/// ```
template <class Config>
class newborn_positions {
public:
    using policy = typename Config::policy;
    using chain = newborn_chain<policy>;

    newborn_positions(const allocation_label& what_for, std::size_t chunk_count, std::size_t chunk_size,
                      std::size_t max_threads)
        : chunks(what_for, chunk_count, chunk_size, max_threads),
          owners(what_for, chunks.positions(), 0),
          links_(what_for.part(" vacated positions").rarely(), chunks.positions(), 0) {}

    owner_word<Config>& operator[](nursery_position position) noexcept { return owners[raw(position)]; }
    const owner_word<Config>& operator[](nursery_position position) const noexcept {
        return owners[raw(position)];
    }

    /// Shard: vacates a position without an object, because later ones were already taken.
    void vacate(chain& shard, std::uint32_t position) noexcept {
        links_[position] = shard.vacant;
        shard.vacant = link_to(position);
        owners[position].vacate(shard.shard);
        add(shard.vacated, 1);
    }

    /// Shard: takes the last vacated position, if compaction has not passed it.
    std::optional<std::uint32_t> take_vacated(chain& shard) noexcept {
        if (shard.vacant == link::none) {
            return std::nullopt;
        }
        const std::uint32_t position = target_of(shard.vacant);
        if (!owners[position].retake(shard.shard)) {
            // Passed: its link may be another shard's by now, and most of the others are passed, too.
            shard.vacant = link::none;
            return std::nullopt;
        }
        shard.vacant = links_[position];
        return position;
    }

    /// Compaction: calls `visit(first, next)` for the chunk in which the shard's next position to be drained
    /// lies, unless it has drained none yet.
    template <class Visit>
    void for_held(const chain& shard, Visit visit) const {
        if (shard.positions.get_end != 0) {
            visit(shard.positions.get_end - chunks.chunk_size(), std::uint32_t{shard.positions.get});
        }
    }

    /// Compaction: gives the memory of a range of positions back that no shard uses, whole pages of it.
    template <class Objects>
    void discard(Objects& objects, std::size_t first, std::size_t last) noexcept {
        if (first == last) {
            return;
        }
        objects.discard(objects.location_of(nursery_position{static_cast<std::uint32_t>(first)}),
                        objects.location_of(nursery_position{static_cast<std::uint32_t>(last)}));
        // Its shard may still look at a position that it has vacated, and that was passed since.
        owners.release(first, last);
        links_.release(first, last);
    }

    /// Forgets everything. Only while nobody else uses it; the shards' chains must be made anew.
    void reset() noexcept {
        chunks.reset();
        owners.discard();
        links_.discard();
    }

    memory_use memory() const noexcept { return memory_of(chunks, owners, links_); }

    chunk_store<policy, index_allocator<policy, typename Config::freelist>> chunks;
    typename policy::template array<owner_word<Config>> owners;

private:
    typename policy::template array<typename policy::template plain<link>> links_;
};

} // namespace handlepool::detail

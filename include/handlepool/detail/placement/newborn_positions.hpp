// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/memory/allocation_label.hpp>
#include <handlepool/detail/placement/owner_word.hpp>
#include <handlepool/detail/queues/chunk_store.hpp>
#include <handlepool/detail/slots/index_allocator.hpp>
#include <handlepool/memory_use.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace handlepool::detail {

/// Groups of stable_places that a shard has claimed and not begun.
template <class Policy>
class held_groups {
public:
    bool empty() const noexcept { return next_ == end_; }

    /// The next one. There must be one.
    std::uint32_t take() noexcept {
        const std::uint32_t next = next_;
        next_ = next + 1;
        return groups_[next];
    }

    /// How many groups beside one the next refill() claims at the most; fewer than Policy::claim_groups.
    void want_beside_one(std::size_t groups) noexcept { beside_one_ = static_cast<std::uint32_t>(groups); }

    /// Claims groups by `claim(out, wanted)`, which returns how many it wrote. False when it wrote none.
    /// There must be none left.
    template <class Claim>
    bool refill(Claim claim) noexcept {
        next_ = 0;
        end_ = static_cast<std::uint32_t>(claim(groups_, std::size_t{beside_one_} + 1));
        return !empty();
    }

    // For captures, while nobody else looks.

    std::span<const std::uint32_t> left() const noexcept { return {groups_ + next_, end_ - next_}; }
    std::uint32_t wanted_beside_one() const noexcept { return beside_one_; }
    /// Makes it hold these, which left() gave.
    void restore(std::span<const std::uint32_t> left, std::uint32_t beside_one) noexcept {
        for (std::size_t i = 0; i != left.size(); ++i) {
            groups_[i] = left[i];
        }
        next_ = 0;
        end_ = static_cast<std::uint32_t>(left.size());
        beside_one_ = beside_one;
    }

    /// Forgets them. Only while nobody else looks.
    void reset() noexcept { next_ = end_ = beside_one_ = 0; }

private:
    typename Policy::template plain<std::uint32_t> next_{0};
    typename Policy::template plain<std::uint32_t> end_{0};
    typename Policy::template plain<std::uint32_t> beside_one_{0};
    std::uint32_t groups_[Policy::claim_groups]{};
};

/// A shard's part of the nursery.
template <class Policy>
struct newborn_chain {
    /// Tells the shards of a nursery apart.
    typename Policy::template plain<std::uint32_t> shard{0};
    /// Head of a linked list of vacated positions.
    typename Policy::template plain<link> vacant{link::none};
    /// Positions ever vacated.
    typename Policy::template atomic<std::uint64_t> vacated{0};
    /// In stable_places, a bit for each place of the shard's group that is still to be taken.
    typename Policy::template plain<std::uint64_t> to_take{0};
    /// In stable_places, the groups that it has claimed after that one.
    held_groups<Policy> held;
    chunk_chain<Policy> positions;
    /// Compaction's: the pending positions when it last looked.
    typename Policy::template plain<std::size_t> pending{0};
    /// Compaction's: `vacated` when it last looked.
    typename Policy::template plain<std::uint64_t> vacated_before{0};
    /// Compaction's: `vacated` when it last left none behind that it could pass.
    typename Policy::template atomic<std::uint64_t> vacated_seen{0};

    /// Makes it as new. Only while nobody uses it.
    void reset() noexcept {
        vacant = link::none;
        to_take = 0;
        held.reset();
        vacated_seen.store(vacated.load(std::memory_order::relaxed), std::memory_order::relaxed);
        positions.reset();
    }
};

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

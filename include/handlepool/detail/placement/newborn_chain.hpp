// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/queues/chunk_store.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>

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
    /// In stable_places, the groups after that.
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

} // namespace handlepool::detail

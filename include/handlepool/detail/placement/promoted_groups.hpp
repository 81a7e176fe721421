// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/bit_runs.hpp>
#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/memory/allocation_label.hpp>
#include <handlepool/memory_use.hpp>

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace handlepool::detail {

/// The places of a group, with a bit for each in one word.
template <class Policy>
struct place_bits {
    /// Places of a group: as many as shards claim at once.
    static constexpr std::uint32_t group_size = Policy::nursery_chunk;
    static_assert(group_size <= 64, "a group has a bit in one word for each place");

    static constexpr std::uint64_t all = bits_from(0, group_size);

    static constexpr std::uint32_t group_of(std::uint32_t place) noexcept { return place / group_size; }
    static constexpr std::uint32_t first_place(std::size_t group) noexcept {
        return static_cast<std::uint32_t>(group) * group_size;
    }
    static constexpr std::uint64_t of(std::uint32_t place) noexcept {
        return std::uint64_t{1} << (place % group_size);
    }
    /// The bits of the places in a range of one group, which may be empty.
    static constexpr std::uint64_t between(std::uint32_t first, std::uint32_t last) noexcept {
        return bits_from(first % group_size, last - first);
    }
    /// Calls `visit(place)` for those of a group's places whose bits are set.
    template <class Visit>
    static void for_each(std::size_t group, std::uint64_t set, Visit&& visit) {
        for_each_bit(first_place(group), set, [&](std::uint32_t place) { visit(nursery_position{place}); });
    }
};

/// What iteration sees of the groups: a bit for each *promoted* object. Compaction sets it when it finds the
/// newborn published, and clears it when it destroys the object.
///
/// ```
///                newborns ──promote()──▶ promoted ──demote()──▶ holes
///  found by a scan  0 0 1 1 0 0             1 1 0 0 0 1 …         a place without an object
/// ```
template <class Policy>
class promoted_groups {
    using bits = place_bits<Policy>;

public:
    using word = typename Policy::template plain<std::uint64_t>;

    promoted_groups(const allocation_label& what_for, std::size_t groups)
        : promoted_(what_for.part(" bits of objects"), groups, 0),
          newborns_(what_for.part(" bits of newborns"), groups, 0) {}

    /// The number of promoted objects. Any thread.
    std::size_t count() const noexcept { return count_.load(std::memory_order::relaxed); }

    /// Promoted objects of a group, a bit for each. Not during a compaction, but by it.
    std::uint64_t operator[](std::size_t group) const noexcept { return promoted_[group]; }
    /// The bits of all groups, a word for each.
    const word* data() const noexcept { return promoted_.data(); }

    bool contains(std::uint32_t place) const noexcept {
        return ((*this)[bits::group_of(place)] & bits::of(place)) != 0;
    }
    bool has_hole(std::size_t group) const noexcept { return promoted_[group] != bits::all; }
    /// The places of a group that have no promoted object.
    std::uint64_t holes(std::size_t group) const noexcept { return bits::all & ~promoted_[group]; }

    /// Compaction: notes the newborns that a scan has found in a group, until they are promoted. For any
    /// number of groups at the same time.
    void note_newborns(std::uint32_t group, std::uint64_t found) noexcept { newborns_[group] = found; }
    /// Compaction: promotes them, and returns their bits.
    std::uint64_t promote(std::uint32_t group) noexcept {
        const std::uint64_t newborns = newborns_[group];
        promoted_[group] = promoted_[group] | newborns;
        add_to_count(std::popcount(newborns));
        return newborns;
    }
    /// Compaction: promotes one object.
    void promote_one(std::uint32_t place) noexcept {
        const std::uint32_t group = bits::group_of(place);
        promoted_[group] = promoted_[group] | bits::of(place);
        add_to_count(1);
    }
    /// Compaction: takes the bit of an object that was destroyed. Returns false when it was a newborn.
    bool demote(std::uint32_t place) noexcept {
        const std::uint32_t group = bits::group_of(place);
        const std::uint64_t promoted = promoted_[group];
        if ((promoted & bits::of(place)) == 0) {
            return false;
        }
        promoted_[group] = promoted & ~bits::of(place);
        add_to_count(-1);
        return true;
    }

    /// For captures: a group has other objects. Only while nobody else uses it.
    void restore(std::size_t group, std::uint64_t promoted) noexcept {
        add_to_count(std::popcount(promoted) - std::popcount((*this)[group]));
        promoted_[group] = promoted;
    }

    /// Forgets everything. Only while nobody else uses it.
    void reset() noexcept {
        promoted_.discard();
        newborns_.discard();
        count_.store(0, std::memory_order::relaxed);
    }

    memory_use memory() const noexcept { return memory_of(promoted_, newborns_); }

private:
    void add_to_count(int change) noexcept {
        count_.store(count() + static_cast<std::size_t>(change), std::memory_order::relaxed);
    }

    typename Policy::template array<word> promoted_;
    typename Policy::template array<word> newborns_;
    typename Policy::template atomic<std::size_t> count_{0};
};

} // namespace handlepool::detail

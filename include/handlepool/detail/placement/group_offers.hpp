// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/bit_runs.hpp>
#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/base/least.hpp>
#include <handlepool/detail/memory/allocation_label.hpp>
#include <handlepool/detail/memory/pool_geometry.hpp>
#include <handlepool/detail/placement/newborn_positions.hpp>
#include <handlepool/detail/placement/promoted_groups.hpp>
#include <handlepool/detail/slots/deal.hpp>
#include <handlepool/detail/slots/free_bitmap.hpp>
#include <handlepool/memory_use.hpp>

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace handlepool::detail {

/// The places that groups *offer* to the shard that claims them. A group belongs to one side at a time:
///
/// ```
///  unused ──────────┐                                ┌──────────── take_over() ────────────┐
///                   ▼                                ▼                                     │
///                 held by a shard ──drained──▶ owned by compaction ──offer(), a hole──▶ offered
///                   ▲                                                                      │
///                   └─────────────────────── claimed, with the places offered ─────────────┘
/// ```
///
/// Only while compaction owns a group does it change which places the group offers.
template <class Config>
class group_offers {
    using policy = typename Config::policy;
    using bits = place_bits<policy>;

public:
    group_offers(const allocation_label& what_for, newborn_positions<Config>& positions,
                 const promoted_groups<policy>& promoted, std::size_t groups, std::size_t max_threads)
        : positions_(positions),
          promoted_(promoted),
          taken_(what_for.part(" bits of places taken"), groups, 0),
          owned_(what_for.part(" groups that are owned"), words_for(groups), 0),
          touched_(what_for.part(" groups with new holes"), words_for(groups), 0),
          room_((groups - least(groups, nursery_chunks_of_shard * max_threads)) / 2),
          most_owned_(greatest<std::size_t>(room_ / 2, 1)) {}

    /// Groups of a word, with a bit for each.
    static constexpr std::size_t groups_a_word = free_bitmap<policy>::bits_per_word;

    static constexpr std::uint32_t no_group = ~std::uint32_t{0};

    /// Groups beyond those that all objects fill and those that shards sit on. Shards hold less than the half
    /// of them in advance, and compaction owns no more than the other half at a time.
    std::size_t room() const noexcept { return room_; }
    std::size_t most_owned() const noexcept { return most_owned_; }

    /// The places of a group that the shard which has claimed it may use, a bit for each.
    std::uint64_t offered(std::uint32_t group) const noexcept {
        // Relaxed: carried by the claim of the group.
        return ~taken_[group].load(std::memory_order::relaxed) & bits::all;
    }

    /// Calls `visit(place)` for the offered places of a range of one group, as long as it returns true.
    template <class Visit>
    void for_each(std::uint32_t first, std::uint32_t last, Visit visit) const {
        if (first != last) {
            const std::uint32_t group = bits::group_of(first);
            for_bits_while(bits::first_place(group), offered(group) & bits::between(first, last), visit);
        }
    }
    /// Returns the end of the first `left` offered places of a range of one group, and counts them down.
    std::uint32_t end_of(std::uint32_t first, std::uint32_t last, std::size_t& left) const noexcept {
        std::uint32_t end = last;
        for_each(first, last, [&](std::uint32_t place) {
            end = left == 0 ? place : last;
            left -= left == 0 ? 0 : 1;
            return end == last;
        });
        return end;
    }

    /// Compaction: notes that the group has a new hole.
    void touch(std::uint32_t group) noexcept {
        touched_[group / groups_a_word] = touched_[group / groups_a_word] | bit_of_group(group);
    }
    /// Compaction: returns whether that was noted, and forgets it.
    bool untouch(std::uint32_t group) noexcept {
        const std::uint64_t touched = touched_[group / groups_a_word];
        touched_[group / groups_a_word] = touched & ~bit_of_group(group);
        return (touched & bit_of_group(group)) != 0;
    }

    /// Compaction: owns the first group with a hole that no shard holds, in that word or a later one; the
    /// word is its own then. Forgets that the group has new holes, and notes it of those that it owns beside
    /// it, for later calls. Returns no_group when there is none.
    std::uint32_t own_next(std::size_t& word) noexcept {
        for (const std::size_t last = words_in_service(); word < last; ++word) {
            while (const std::uint64_t owned = own_some(word)) {
                touched_[word] = (touched_[word] & ~owned) | (owned & (owned - 1));
                const auto group = static_cast<std::uint32_t>(
                    word * groups_a_word + static_cast<std::size_t>(std::countr_zero(owned)));
                if (promoted_.has_hole(group)) {
                    return group;
                }
            }
        }
        return no_group;
    }
    /// Compaction: owns a group in which no object was ever made. Returns no_group when there is none.
    std::uint32_t own_unused() noexcept {
        std::uint32_t group = no_group;
        if (positions_.chunks.take_chunks(&group, 1) != 0) {
            own(group);
        }
        return group;
    }

    /// Compaction: owns a group that a shard has held, so that recycle() offers it.
    void take_back(std::uint32_t group) noexcept {
        own(group);
        touch(group);
    }

    // ---- Dealing out, while nobody else claims groups: see `deal`. What spawners take stays offered until
    // the deal is closed, so that all of them count the same groups.

    /// Deals out the groups that are offered, the first ones first, and then unused ones. Throws
    /// std::bad_alloc.
    void open_deal(std::span<const std::uint32_t> weights) {
        auto& chunks = positions_.chunks;
        offered_ = chunks.given_back().seen().waiting();
        cursors_.assign(weights.size(), cursor());
        deal_.open(weights, offered_ + (chunks.chunks() - chunks.chunks_in_service()), 1);
    }
    bool is_dealt() const noexcept { return deal_.is_open(); }
    /// The next group of a spawner; no_group when it has had its share. One thread at a time for each.
    std::uint32_t take_dealt(std::size_t spawner) noexcept {
        const auto next = deal_.take(spawner, 1);
        return next.count == 0 ? no_group
                               : dealt(next.first, cursors_[spawner], positions_.chunks.chunks_in_service());
    }
    /// Claims the groups that were taken. Unused ones that were passed over are offered. Linear in these.
    void close_deal() noexcept {
        if (!is_dealt()) {
            return;
        }
        auto& chunks = positions_.chunks;
        const std::size_t unused = chunks.chunks_in_service();
        cursor next;
        deal_.for_each_block([&](auto taken, auto passed_over) {
            const std::size_t end = passed_over.first + passed_over.count;
            if (end > offered_) {
                chunks.put_in_service(unused + (end - offered_), most_owned_);
            }
            if (taken.count != 0) {
                const std::uint32_t group = dealt(taken.first, next, unused);
                chunks.given_back().claim_word(group / groups_a_word, bit_of_group(group));
            }
        });
        deal_.close();
        chunks.given_back().rewind();
    }

    /// Compaction: offers the groups that have new holes, unless a shard holds them.
    void recycle() noexcept {
        positions_.chunks.take_finished([this](std::uint32_t group) {
            own(group);
            touch(group);
        });
        for (std::size_t word = 0, last = words_in_service(); word != last; ++word) {
            const std::uint64_t touched = touched_[word];
            touched_[word] = 0;
            own_and_offer(word, touched, [](std::uint64_t) {});
        }
        positions_.chunks.given_back().rewind();
    }

    /// Compaction: calls `use(first group, owned)` for those of the groups with holes that no shard holds, a
    /// bit for each. It owns them during the call, a few at a time, so that shards always find others.
    template <class Use>
    void for_owned_with_holes(Use use) noexcept {
        for (std::size_t word = 0, last = words_in_service(); word != last; ++word) {
            own_and_offer(word, groups_with_holes(word),
                          [&](std::uint64_t owned) { use(word * groups_a_word, owned); });
        }
        positions_.chunks.given_back().rewind();
    }

    // For captures, while nobody else uses it.

    /// Which places a group offers, and who has it: if none of these, a shard has it or nobody ever had.
    struct state {
        std::uint64_t taken = 0;
        bool is_owned = false;
        bool is_touched = false;
        bool is_offered = false;

        friend bool operator==(const state&, const state&) = default;
    };
    state state_of(std::uint32_t group) const noexcept {
        const std::size_t word = group / groups_a_word;
        const std::uint64_t bit = bit_of_group(group);
        return {.taken = taken_[group].load(std::memory_order::relaxed),
                .is_owned = (owned_[word] & bit) != 0,
                .is_touched = (touched_[word] & bit) != 0,
                .is_offered = (positions_.chunks.given_back().bits_of(word) & bit) != 0};
    }
    void restore(std::uint32_t group, const state& then) noexcept {
        const std::size_t word = group / groups_a_word;
        const std::uint64_t bit = bit_of_group(group);
        taken_[group].store(then.taken, std::memory_order::relaxed);
        owned_[word] = (owned_[word] & ~bit) | (then.is_owned ? bit : 0);
        touched_[word] = (touched_[word] & ~bit) | (then.is_touched ? bit : 0);
        auto& offered = positions_.chunks.given_back();
        offered.claim_word(word, bit);
        if (then.is_offered) {
            offered.give_back_word(word, bit);
        }
    }

    /// Forgets everything. Only while nobody else uses it.
    void reset() noexcept {
        taken_.discard();
        owned_.discard();
        touched_.discard();
    }

    memory_use memory() const noexcept { return memory_of(taken_, owned_, touched_); }

private:
    static constexpr std::size_t words_for(std::size_t groups) noexcept {
        return (groups + groups_a_word - 1) / groups_a_word;
    }
    static constexpr std::uint64_t bit_of_group(std::size_t group) noexcept {
        return std::uint64_t{1} << (group % groups_a_word);
    }
    void own(std::uint32_t group) noexcept {
        owned_[group / groups_a_word] = owned_[group / groups_a_word] | bit_of_group(group);
    }
    std::size_t words_in_service() const noexcept { return words_for(positions_.chunks.chunks_in_service()); }

    /// The groups of a word that are in service and have holes.
    std::uint64_t groups_with_holes(std::size_t word) const noexcept {
        std::uint64_t found = 0;
        const std::size_t first = word * groups_a_word;
        const std::size_t last = least(positions_.chunks.chunks_in_service(), first + groups_a_word);
        for (std::size_t group = first; group < last; ++group) {
            found |= promoted_.has_hole(group) ? bit_of_group(group) : 0;
        }
        return found;
    }

    template <class Use>
    void own_and_offer(std::size_t word, std::uint64_t groups, Use use) noexcept {
        while (groups != 0) {
            const std::uint64_t some = lowest_bits(groups, most_owned_);
            groups &= ~some;
            const std::uint64_t owned = take_over(word, some);
            use(owned);
            offer(word, owned);
        }
    }

    /// Returns groups of a word that are owned and have new holes; and when there are none, owns a few of
    /// those that are offered.
    std::uint64_t own_some(std::size_t word) noexcept {
        const std::uint64_t owned = owned_[word] & touched_[word];
        return owned != 0
                   ? owned
                   : take_over(word, lowest_bits(positions_.chunks.given_back().bits_of(word), most_owned_));
    }

    /// Where a search for offered groups has come to, in ascending order.
    struct cursor {
        std::size_t word = ~std::size_t{0}; // so that the first is the next one
        std::uint64_t bits = 0;             // of the word, from the group of this number on
        std::size_t number = 0;
    };
    /// The group that was dealt out with this number: one that is offered, as far as there are any, and then
    /// one of the unused ones, which begin with `unused`.
    std::uint32_t dealt(std::size_t number, cursor& at, std::size_t unused) const noexcept {
        if (number >= offered_) {
            return static_cast<std::uint32_t>(unused + (number - offered_));
        }
        for (auto some = static_cast<std::size_t>(std::popcount(at.bits)); number - at.number >= some;
             some = static_cast<std::size_t>(std::popcount(at.bits))) {
            at.number += some;
            ++at.word;
            at.bits = positions_.chunks.given_back().bits_of(at.word);
        }
        for (; at.number != number; ++at.number) {
            at.bits &= at.bits - 1;
        }
        return static_cast<std::uint32_t>(at.word * groups_a_word +
                                          static_cast<std::size_t>(std::countr_zero(at.bits)));
    }

    /// Owns those of the groups that no shard holds or is about to hold; returns their bits.
    std::uint64_t take_over(std::size_t word, std::uint64_t groups) noexcept {
        const std::uint64_t owned = owned_[word] & groups;
        if (owned == groups) {
            return owned;
        }
        const std::uint64_t taken = positions_.chunks.given_back().claim_word(word, groups & ~owned);
        owned_[word] = owned_[word] | taken;
        return owned | taken;
    }

    /// Lets shards claim those of the groups, which are owned, that have a hole.
    void offer(std::size_t word, std::uint64_t groups) noexcept {
        std::uint64_t offers = 0;
        for_each_bit(word * groups_a_word, groups, [&](std::uint32_t group) {
            if (promoted_.has_hole(group)) {
                // Relaxed: carried by the offer.
                taken_[group].store(promoted_[group], std::memory_order::relaxed);
                offers |= bit_of_group(group);
            }
        });
        if (offers != 0) {
            owned_[word] = owned_[word] & ~offers;
            positions_.chunks.given_back().give_back_word(word, offers);
        }
    }

    newborn_positions<Config>& positions_;
    const promoted_groups<policy>& promoted_;
    // The places that a group doesn't offer: none of a group that was never used.
    typename policy::template array<typename policy::template atomic<std::uint64_t>> taken_;
    // A bit for each group: compaction owns it; it has holes that it doesn't offer.
    typename policy::template array<typename policy::template plain<std::uint64_t>> owned_;
    typename policy::template array<typename policy::template plain<std::uint64_t>> touched_;
    std::size_t room_;
    std::size_t most_owned_;
    // While groups are dealt out: how many of them were offered, and where each spawner looks for its next
    // one.
    deal<policy> deal_;
    std::size_t offered_ = 0;
    std::vector<cursor> cursors_;
};

} // namespace handlepool::detail

// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/base/least.hpp>
#include <handlepool/detail/memory/allocation_label.hpp>
#include <handlepool/detail/memory/memory_of.hpp>
#include <handlepool/detail/memory/pool_geometry.hpp>
#include <handlepool/detail/placement/nursery.hpp>
#include <handlepool/detail/slots/slot_table.hpp>
#include <handlepool/memory_use.hpp>

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace handlepool::detail {

/// Places for objects that are published together, in their order: the first of groups that the shard holds,
/// and then those of groups that no chain leads to yet.
struct place_batch {
    std::vector<std::uint32_t> places;
    std::size_t in_shard_groups = 0;
    std::vector<std::uint32_t> groups;
};

/// A nursery whose objects stay. Its chunks are *groups*: a shard claims a group for the places in it that
/// are free, of all groups the one nearest to the front, and creates objects there. Compaction *promotes*
/// newborns where they are: it sets a bit for each, which iteration reads, and clears it when the object is
/// destroyed. A group with a hole is offered again once no shard holds it.
///
/// Compaction *owns* a group that no shard holds, nor can claim: only then does it change which places the
/// group offers.
template <class Config>
class stable_places : private nursery<Config> {
    using base = nursery<Config>;

public:
    using typename base::chain, typename base::layout, typename base::policy, typename base::value_type;
    using batch_type = place_batch;
    using group_bits = typename policy::template plain<std::uint64_t>;

    /// Places of a group: as many as shards claim at once, and as one word has bits for.
    static constexpr std::uint32_t group_size = policy::nursery_chunk;

    stable_places(const allocation_label& what_for, std::size_t groups, std::size_t, std::size_t max_threads)
        : base(what_for, groups, group_size, max_threads),
          promoted_(what_for.part(" bits of objects"), groups, 0),
          newborns_(what_for.part(" bits of newborns"), groups, 0),
          taken_(what_for.part(" bits of places taken"), groups, 0),
          owned_(what_for.part(" groups that are owned"), words_for(groups), 0),
          touched_(what_for.part(" groups with new holes"), words_for(groups), 0),
          room_((groups - least(groups, nursery_chunks_of_shard * max_threads)) / 2),
          most_owned_(greatest<std::size_t>(room_ / 2, 1)) {}

    using base::destroy_kept, base::end_object, base::ends_objects, base::for_pending, base::holds,
        base::memory_at, base::own, base::owner, base::positions, base::prefetch_owner, base::reached;
    static constexpr std::uint32_t chunk_size() noexcept { return group_size; }

    /// Shard: takes a place for an object. None when no place is left. Calls `soon(place)` for such as are
    /// probably taken some calls later. Lock-free.
    template <class Soon>
    nursery_position take(chain& shard, Soon soon) noexcept {
        while (true) {
            if (const std::uint32_t place = take_held(shard); place != none) [[likely]] {
                return nursery_position{place};
            }
            if (shard.held.empty() && !claim_groups(shard, soon)) {
                return nursery_position::none;
            }
            const std::uint32_t group = shard.held.take();
            base::chunks_.append(shard.positions, group);
            shard.to_take = offered(group);
        }
    }
    nursery_position take(chain& shard) noexcept {
        return take(shard, [](nursery_position) {});
    }

    /// Shard: takes places for `count` objects. Returns false when there are not as many, and throws
    /// std::bad_alloc; then nothing has changed. Lock-free.
    bool take(chain& shard, std::size_t count, place_batch& batch) {
        batch.places.reserve(count + group_size);
        batch.groups.reserve(count); // each has a place at least
        while (batch.places.size() != count) {
            const std::uint32_t place = take_held(shard);
            if (place == none) {
                break;
            }
            batch.places.push_back(place);
        }
        batch.in_shard_groups = batch.places.size();
        while (batch.places.size() < count) {
            if (shard.held.empty() && !claim_groups(shard, [](nursery_position) {})) {
                give_back(shard, batch);
                return false;
            }
            const std::uint32_t group = shard.held.take();
            batch.groups.push_back(group);
            const std::uint32_t first = group * group_size;
            for_each_offered(first, first + group_size, [&](std::uint32_t place) {
                batch.places.push_back(place);
                return true;
            });
        }
        batch.places.resize(count);
        return true;
    }

    /// The place of a batch's object.
    static nursery_position position(const place_batch& batch, std::size_t object) noexcept {
        return nursery_position{batch.places[object]};
    }
    /// Calls `visit(i, place)` for the batch's first `count` objects.
    template <class Visit>
    static void for_each_position(const place_batch& batch, std::size_t count, Visit visit) {
        for (std::size_t i = 0; i != count; ++i) {
            visit(i, position(batch, i));
        }
    }

    /// Shard: gives a place back whose constructor threw. Wait-free.
    void give_back(chain& shard, nursery_position given_back) noexcept {
        const std::uint32_t place = raw(given_back);
        auto& queue = shard.positions;
        if (queue.put == place + 1 && queue.put_end - place <= group_size) {
            queue.put = place;
            shard.to_take = shard.to_take | bit_of(place);
        } else { // see nursery
            base::vacate(shard, place);
        }
    }
    /// Shard: gives a whole batch back. Wait-free.
    void give_back(chain& shard, const place_batch& batch) noexcept {
        for (const std::uint32_t group : batch.groups) {
            base::chunks_.give_back_chunk(group);
        }
        for (std::size_t i = batch.in_shard_groups; i != 0; --i) {
            give_back(shard, position(batch, i - 1));
        }
    }

    /// Shard: makes a batch of `count` objects part of the shard's queue. Before the first of them is
    /// published, so that the next compaction finds them.
    void append(chain& shard, std::size_t count, const place_batch& batch) noexcept {
        if (batch.groups.empty()) {
            return;
        }
        // Vacate the rest of a group that a constructor of this batch has started.
        for (std::uint32_t place = take_in_group(shard); place != none; place = take_in_group(shard)) {
            base::vacate(shard, place);
        }
        for (const std::uint32_t group : batch.groups) {
            base::chunks_.append(shard.positions, group);
        }
        const std::uint32_t last = raw(position(batch, count - 1));
        shard.positions.put = last + 1;
        shard.to_take = offered(last / group_size) & ~(bit_of(last) | (bit_of(last) - 1));
    }

    /// Compaction: see nursery. Places that were not offered count as none.
    template <class Visit>
    bool for_used(const chain& shard, std::size_t most, Visit visit) const {
        return base::for_used(shard, most, visit, offered_in());
    }
    std::size_t used(const chain& shard, std::size_t most) const {
        return base::used(shard, most, offered_in());
    }
    std::size_t pending(const chain& shard) const { return base::pending(shard, offered_in()); }

    /// Compaction: returns how many places can be drained, counted from `first`, all of one group; see
    /// nursery. Notes which of them newborns have. For any number of ranges at the same time.
    std::uint32_t scan_published(std::uint32_t first, std::uint32_t last,
                                 const slot_table<Config>& table) noexcept {
        std::uint64_t newborns = 0;
        std::uint32_t end = last;
        for_each_offered(first, last, [&](std::uint32_t place) {
            const bool passed = base::pass(place, table);
            end = passed ? last : place;
            newborns |= passed && base::names_object(owner(nursery_position{place})) ? bit_of(place) : 0;
            return passed;
        });
        newborns_[first / group_size] = newborns;
        return end - first;
    }

    /// Compaction: passes the shard's next `count` places, as many as were found ready, and promotes the
    /// newborns among them: then it calls `born(place)`.
    template <class Born>
    void drain(chain& shard, std::size_t count, Born born) {
        while (count != 0) {
            base::chunks_.follow(shard.positions);
            const std::uint32_t first = shard.positions.get;
            const auto ready =
                static_cast<std::uint32_t>(least<std::size_t>(count, shard.positions.get_end - first));
            promote_ready(shard, first, ready, born);
            count -= ready;
        }
        base::chunks_.follow(shard.positions); // so that a group is done with as soon as there is another
    }
    /// Compaction: see nursery. Of `most`, places that were not offered count as none.
    template <class Born>
    bool drain_ready(chain& shard, std::size_t most, const slot_table<Config>& table, Born born) {
        return base::drain_ready(
            shard, least<std::size_t>(most, shard.pending),
            [this, all = most == unlimited](std::uint32_t first, std::uint32_t last, std::size_t& left) {
                return all ? base::limit_positions(first, last, left) : limit_offered(first, last, left);
            },
            [&](std::uint32_t first, std::uint32_t last) {
                const std::uint32_t ready = scan_published(first, last, table);
                promote_ready(shard, first, ready, born);
                return ready;
            },
            offered_in());
    }

    /// Compaction: marks the place of an object that was destroyed. A newborn's is still to be passed; a
    /// promoted object's is as the next shard to claim it needs it.
    void mark_gone(nursery_position where) noexcept {
        base::owners_[raw(where)].store(is_promoted(where) ? base::empty : base::gone,
                                        std::memory_order::relaxed); // carried by the offer
    }

    /// Compaction: the object at the place was destroyed. False when it was a newborn.
    bool demote(nursery_position where) noexcept {
        const std::uint32_t group = raw(where) / group_size;
        const std::uint64_t promoted = promoted_[group];
        if ((promoted & bit_of(raw(where))) == 0) {
            return false;
        }
        promoted_[group] = promoted & ~bit_of(raw(where));
        count(-1);
        touch(group);
        return true;
    }

    /// Compaction: offers the groups that have holes, unless a shard holds them.
    template <class Recycled>
    void recycle(const Recycled&) noexcept {
        base::chunks_.take_finished([this](std::uint32_t group) {
            owned_[group / groups_a_word] = owned_[group / groups_a_word] | bit_of_group(group);
            touch(group);
        });
        for (std::size_t word = 0, last = words_for(groups()); word != last; ++word) {
            std::uint64_t left = touched_[word];
            touched_[word] = 0;
            while (left != 0) {
                const std::uint64_t some = lowest_bits(left, most_owned_);
                left &= ~some;
                offer(word, take_over(word, some));
            }
        }
        base::chunks_.given_back().rewind();
    }

    // shrink() gives memory back: objects would stand in the way of most of it anyway.
    template <class Objects>
    static constexpr void trim(const Objects&) noexcept {}

    /// Compaction: gives the memory of all holes back to the system, wherever they lie; but for that of
    /// places where a shard may create objects. See shrink_held() for the others of the groups that shards
    /// hold.
    template <class Objects>
    void shrink(Objects& objects) noexcept {
        shrink(objects, [](std::uint32_t, std::uint64_t) {});
    }
    /// Compaction: the same of the group that a shard holds; with the places that the shard has still to
    /// take, if it is the calling thread's.
    template <class Objects>
    void shrink_held(Objects& objects, const chain& shard, bool mine) noexcept {
        shrink_held(objects, shard, mine, [](std::uint32_t, std::uint64_t) {});
    }

    /// Forgets everything. Only while nobody else uses it; the shards' chains must be made anew.
    void reset() noexcept {
        base::reset();
        promoted_.discard();
        newborns_.discard();
        taken_.discard();
        owned_.discard();
        touched_.discard();
        promoted_count_.store(0, std::memory_order::relaxed);
    }

    /// The number of promoted objects. Any thread.
    std::size_t promoted() const noexcept { return promoted_count_.load(std::memory_order::relaxed); }

    /// Groups ever used are the first ones.
    std::size_t groups() const noexcept { return base::chunks_.chunks_in_service(); }

    /// Promoted objects of a group, a bit for each. Not during a compaction.
    std::uint64_t promoted_in(std::size_t group) const noexcept { return promoted_[group]; }
    /// Those of all groups. Not during a compaction.
    const group_bits* promoted_groups() const noexcept { return promoted_.data(); }

    bool is_promoted(nursery_position place) const noexcept {
        return (promoted_in(raw(place) / group_size) & bit_of(raw(place))) != 0;
    }

    /// Calls `visit(place)` for the promoted objects of a group. Not during a compaction.
    template <class Visit>
    void for_each_promoted(std::size_t group, Visit visit) const {
        for_each_bit(group, promoted_[group], visit);
    }

    memory_use memory() const noexcept {
        return base::memory() + memory_of(promoted_, newborns_, taken_, owned_, touched_);
    }

protected:
    template <class Value>
    using plain = typename policy::template plain<Value>;

    static_assert(group_size <= 64, "a group has a bit in one word for each place");
    static constexpr std::uint64_t all_places = ~std::uint64_t{0} >> (64 - group_size);

    // A shard claims no further group with more places than this.
    static constexpr std::size_t few_places = policy::claim_groups;

    static constexpr std::uint32_t none = raw(nursery_position::none);
    static constexpr std::size_t groups_a_word = free_bitmap<policy>::bits_per_word;

    static constexpr std::size_t words_for(std::size_t groups) noexcept {
        return (groups + groups_a_word - 1) / groups_a_word;
    }
    static constexpr std::uint64_t bit_of_group(std::size_t group) noexcept {
        return std::uint64_t{1} << (group % groups_a_word);
    }
    static constexpr nursery_position first_place(std::size_t group) noexcept {
        return nursery_position{static_cast<std::uint32_t>(group * group_size)};
    }
    static constexpr std::uint64_t lowest_bits(std::uint64_t bits, std::size_t most) noexcept {
        std::uint64_t rest = bits;
        for (std::size_t i = 0; i != most && most < groups_a_word; ++i) {
            rest &= rest - 1;
        }
        return most < groups_a_word ? bits & ~rest : bits;
    }
    static constexpr std::uint64_t bit_of(std::uint32_t place) noexcept {
        return std::uint64_t{1} << (place % group_size);
    }
    /// The bits of a range of one group, which may be empty.
    static constexpr std::uint64_t bits_between(std::uint32_t first, std::uint32_t last) noexcept {
        return first == last ? 0 : all_places >> (group_size - (last - first)) << (first % group_size);
    }
    /// Calls `visit(place)` for those of a group's places whose bits are set.
    template <class Visit>
    static void for_each_bit(std::size_t group, std::uint64_t bits, Visit&& visit) {
        const std::uint32_t first = static_cast<std::uint32_t>(group) * group_size;
        for (; bits != 0; bits &= bits - 1) {
            visit(nursery_position{first + static_cast<std::uint32_t>(std::countr_zero(bits))});
        }
    }

    bool has_hole(std::size_t group) const noexcept { return promoted_[group] != all_places; }

    /// The public ones; before memory goes, they call `emptied(group, places)`, with a bit for each place
    /// that is free.
    template <class Objects, class Emptied>
    void shrink(Objects& objects, Emptied emptied) noexcept {
        own_rest_of_huge_page(objects);
        for (std::size_t word = 0, last = words_for(groups()); word != last; ++word) {
            std::uint64_t left = groups_with_holes(word);
            while (left != 0) {
                const std::uint64_t some = lowest_bits(left, most_owned_);
                left &= ~some;
                const std::uint64_t owned = take_over(word, some);
                discard_holes(objects, word * groups_a_word, owned, emptied);
                offer(word, owned);
            }
        }
        base::chunks_.given_back().rewind();
    }
    template <class Objects, class Emptied>
    void shrink_held(Objects& objects, const chain& shard, bool mine, Emptied emptied) noexcept {
        const auto discard = [&](std::uint32_t first, std::uint64_t places) {
            emptied(first / group_size, places);
            base::for_each_run(first, places, [&](std::size_t begin, std::size_t end) {
                base::discard_positions(objects, begin, end);
            });
        };
        const std::uint64_t to_take = mine ? std::uint64_t{shard.to_take} : 0;
        const std::uint32_t taken_from = to_take == 0 ? 0 : shard.positions.put_end - group_size;
        bool all = to_take == 0;
        base::for_held(shard, [&](std::uint32_t first, std::uint32_t next) {
            const std::uint64_t of_shard = offered(first / group_size) & ~bits_between(first, next);
            const bool together = !all && taken_from == first; // they may share pages
            discard(first,
                    (all_places & ~promoted_[first / group_size] & ~of_shard) | (together ? to_take : 0));
            all = all || together;
        });
        if (!all) {
            discard(taken_from, to_take);
        }
    }

    /// The groups of a word that are in service and have holes.
    std::uint64_t groups_with_holes(std::size_t word) const noexcept {
        std::uint64_t found = 0;
        const std::size_t first = word * groups_a_word;
        for (std::size_t group = first, last = least(groups(), first + groups_a_word); group < last;
             ++group) {
            found |= has_hole(group) ? bit_of_group(group) : 0;
        }
        return found;
    }

    /// Of groups that it owns, counted from `first`. Holes that are neighbours go together, with the pages
    /// that they share.
    template <class Objects, class Emptied>
    void discard_holes(Objects& objects, std::size_t first, std::uint64_t owned, Emptied& emptied) noexcept {
        std::size_t begin = 0;
        std::size_t end = 0;
        for (; owned != 0; owned &= owned - 1) {
            const auto group =
                static_cast<std::uint32_t>(first + static_cast<std::size_t>(std::countr_zero(owned)));
            const std::uint64_t places = all_places & ~promoted_[group];
            emptied(group, places);
            base::for_each_run(std::size_t{group} * group_size, places,
                               [&](std::size_t run, std::size_t run_end) {
                                   if (run != end) {
                                       base::discard_positions(objects, begin, end);
                                       begin = run;
                                   }
                                   end = run_end;
                               });
        }
        base::discard_positions(objects, begin, end);
    }

    /// Groups that were never used have memory where they share a huge page with those that were.
    template <class Objects>
    void own_rest_of_huge_page(const Objects& objects) noexcept {
        if (groups() != 0) {
            const nursery_position end = objects.end_of_huge_page(first_place(groups()));
            base::chunks_.put_in_service(least<std::size_t>(raw(end) / group_size, base::chunks_.chunks()),
                                         most_owned_);
        }
    }

    /// The places that whoever has claimed the group may use.
    std::uint64_t offered(std::uint32_t group) const noexcept {
        // Relaxed: carried by the claim of the group.
        return ~taken_[group].load(std::memory_order::relaxed) & all_places;
    }

    /// Shard: claims groups: several, if those that looked like the next ones have few places. False when
    /// none is left. Calls `soon(place)` for the places that the shard's next claim will probably get.
    template <class Soon>
    HANDLEPOOL_NOINLINE bool claim_groups(chain& shard, Soon soon) noexcept {
        if (!shard.held.refill([this](std::uint32_t* out, std::size_t wanted) {
                return base::chunks_.take_chunks(out, wanted);
            })) {
            return false;
        }
        const std::size_t most = most_groups(shard);
        std::size_t groups = 0;
        std::size_t places = 0;
        base::chunks_.given_back().for_next(this->groups(), [&](std::uint32_t group) {
            for_each_bit(group, offered(group), [&](nursery_position place) {
                base::prefetch_owner(place);
                soon(place);
                ++places;
            });
            return ++groups < most && places <= few_places;
        });
        shard.held.want_beside_one(groups - least<std::size_t>(groups, 1));
        return true;
    }

    /// The groups that a shard may claim at once, if more than one. All shards together, however many there
    /// are, hold less in advance than the half of the room that compaction leaves to them: see claim_share().
    std::size_t most_groups(const chain& shard) const noexcept {
        return least<std::size_t>(
            claim_share(policy::claim_groups * room_, shard.shard + std::size_t{1}, policy::claim_divisor),
            policy::claim_groups);
    }

    /// Calls `visit(place)` for the offered places of a range of one group, as long as it returns true.
    template <class Visit>
    void for_each_offered(std::uint32_t first, std::uint32_t last, Visit visit) const {
        if (first == last) {
            return;
        }
        const std::uint32_t start = first - first % group_size;
        std::uint64_t left = offered(first / group_size) & ~(bit_of(first) - 1);
        for (; left != 0; left &= left - 1) {
            const std::uint32_t place = start + static_cast<std::uint32_t>(std::countr_zero(left));
            if (place >= last || !visit(place)) {
                return;
            }
        }
    }

    /// The end of the first `left` offered places of a range of one group, which it counts down.
    std::uint32_t limit_offered(std::uint32_t first, std::uint32_t last, std::size_t& left) const noexcept {
        std::uint32_t end = last;
        for_each_offered(first, last, [&](std::uint32_t place) {
            end = left == 0 ? place : last;
            left -= left == 0 ? 0 : 1;
            return end == last;
        });
        return end;
    }

    auto offered_in() const noexcept {
        return [this](std::uint32_t first, std::uint32_t last, auto visit) {
            this->for_each_offered(first, last, visit);
        };
    }

    /// Shard: takes a place of its current group, or none.
    std::uint32_t take_in_group(chain& shard) noexcept {
        const std::uint64_t left = shard.to_take;
        if (left == 0) {
            shard.positions.put = std::uint32_t{shard.positions.put_end}; // nothing can be given back there
            return none;
        }
        const std::uint32_t place =
            shard.positions.put_end - group_size + static_cast<std::uint32_t>(std::countr_zero(left));
        shard.to_take = left & (left - 1);
        shard.positions.put = place + 1;
        return place;
    }
    /// Shard: takes a place of the groups that it holds, or none.
    std::uint32_t take_held(chain& shard) noexcept {
        const std::uint32_t place = take_in_group(shard);
        return place != none ? place : base::take_vacated(shard).value_or(none);
    }

    /// Those of the shard's next `count` places, as many as were found ready, that have newborns.
    template <class Born>
    void promote_ready(chain& shard, std::uint32_t first, std::uint32_t count, Born& born) {
        const std::uint32_t group = first / group_size;
        const std::uint64_t newborns = newborns_[group];
        promote(group, newborns);
        for_each_bit(group, newborns, born);
        // Others are rare: places of objects that were never promoted, or whose constructors threw.
        for_each_bit(group, offered(group) & bits_between(first, first + count) & ~newborns,
                     [this](nursery_position place) {
                         base::owners_[raw(place)].store(base::empty,
                                                         std::memory_order::relaxed); // carried by the offer
                     });
        shard.positions.get = first + count;
    }
    void promote(std::uint32_t group, std::uint64_t newborns) noexcept {
        promoted_[group] = promoted_[group] | newborns;
        count(std::popcount(newborns));
    }
    void count(int change) noexcept {
        promoted_count_.store(promoted() + static_cast<std::size_t>(change), std::memory_order::relaxed);
    }

    void touch(std::uint32_t group) noexcept {
        touched_[group / groups_a_word] = touched_[group / groups_a_word] | bit_of_group(group);
    }

    /// Owns those of the groups that no shard holds or is about to hold; returns their bits.
    std::uint64_t take_over(std::size_t word, std::uint64_t groups) noexcept {
        const std::uint64_t owned = owned_[word] & groups;
        const std::uint64_t taken = base::chunks_.given_back().claim_word(word, groups & ~owned);
        owned_[word] = owned_[word] | taken;
        return owned | taken;
    }

    /// Lets shards claim those of the groups, which are owned, that have a hole.
    void offer(std::size_t word, std::uint64_t groups) noexcept {
        std::uint64_t offers = 0;
        for (std::uint64_t left = groups; left != 0; left &= left - 1) {
            const std::size_t group = word * groups_a_word + static_cast<std::size_t>(std::countr_zero(left));
            if (!has_hole(group)) {
                continue;
            }
            taken_[group].store(promoted_[group], std::memory_order::relaxed); // carried by the offer
            offers |= bit_of_group(group);
        }
        if (offers != 0) {
            owned_[word] = owned_[word] & ~offers;
            base::chunks_.given_back().give_back_word(word, offers);
        }
    }

    typename policy::template array<group_bits> promoted_;
    // The newborns that the last scan of a group has found, until they are promoted.
    typename policy::template array<group_bits> newborns_;
    // The places that a group doesn't offer: none of a group that was never used.
    typename policy::template array<typename policy::template atomic<std::uint64_t>> taken_;
    // A bit for each group: compaction owns it; it has holes that it doesn't offer.
    typename policy::template array<plain<std::uint64_t>> owned_;
    typename policy::template array<plain<std::uint64_t>> touched_;
    // Groups beyond those that all objects fill and those that shards sit on. Compaction owns half as many at
    // a time, and shards hold less than the other half in advance.
    std::size_t room_;
    std::size_t most_owned_;
    typename policy::template atomic<std::size_t> promoted_count_{0};
};

} // namespace handlepool::detail

// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/base/least.hpp>
#include <handlepool/detail/memory/allocation_label.hpp>
#include <handlepool/detail/memory/pool_geometry.hpp>
#include <handlepool/detail/placement/exclusive_places.hpp>
#include <handlepool/detail/placement/group_offers.hpp>
#include <handlepool/detail/placement/hole_memory.hpp>
#include <handlepool/detail/placement/newborn_consumer.hpp>
#include <handlepool/detail/placement/newborn_positions.hpp>
#include <handlepool/detail/placement/object_lifetimes.hpp>
#include <handlepool/detail/placement/place_states.hpp>
#include <handlepool/detail/placement/promoted_groups.hpp>
#include <handlepool/detail/slots/slot_table.hpp>
#include <handlepool/memory_use.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace handlepool::detail {

/// Places for objects that are published together, in their order: the first of groups that the shard holds,
/// and then those of groups that no chain leads to yet.
struct place_batch {
    std::vector<std::uint32_t> places;
    std::size_t in_shard_groups = 0;
    std::vector<std::uint32_t> groups;
};

/// Where objects are created that stay: positions as those of a nursery, whose chunks are *groups*. A shard
/// claims a group for the places that it offers, after a compaction the one nearest to the front, and creates
/// objects there: see group_offers. Compaction *promotes* newborns where they are: see promoted_groups. A
/// group with a hole is offered again once no shard holds it. Has the functions of nursery.
///
/// @tparam Lifetimes how objects begin and end: destroyed_objects or kept_objects
template <class Config, class Lifetimes = destroyed_objects>
class stable_places {
public:
    using layout = typename Config::layout;
    using policy = typename Config::policy;
    using value_type = typename layout::value_type;
    using chain = newborn_chain<policy>;
    using batch_type = place_batch;
    using bits = place_bits<policy>;
    using states_type = place_states<Config, Lifetimes>;

    static constexpr std::uint32_t group_size = bits::group_size;

    stable_places(const allocation_label& what_for, std::size_t groups, std::size_t, std::size_t max_threads)
        : positions_(what_for, groups, group_size, max_threads),
          promoted_(what_for, groups),
          offers_(what_for, positions_, promoted_, groups, max_threads),
          lifetimes_(what_for, groups) {}

    std::size_t positions() const noexcept { return positions_.owners.size(); }
    static constexpr std::uint32_t chunk_size() noexcept { return group_size; }
    /// Groups ever used are the first ones.
    std::size_t groups() const noexcept { return positions_.chunks.chunks_in_service(); }

    // ---- A shard's end of its queue

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
            positions_.chunks.append(shard.positions, group);
            shard.to_take = offers_.offered(group);
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
            bits::for_each(group, offers_.offered(group),
                           [&](nursery_position place) { batch.places.push_back(raw(place)); });
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
            shard.to_take = shard.to_take | bits::of(place);
        } else { // see nursery
            positions_.vacate(shard, place);
        }
    }
    /// Shard: gives a whole batch back. Wait-free.
    void give_back(chain& shard, const place_batch& batch) noexcept {
        if (offers_.is_dealt()) { // the groups are the spawner's
            append(shard, batch.places.size(), batch);
            for (std::size_t i = batch.places.size(); i != 0; --i) {
                give_back(shard, position(batch, i - 1));
            }
            return;
        }
        for (const std::uint32_t group : batch.groups) {
            positions_.chunks.give_back_chunk(group);
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
            positions_.vacate(shard, place);
        }
        for (const std::uint32_t group : batch.groups) {
            positions_.chunks.append(shard.positions, group);
        }
        const std::uint32_t last = raw(position(batch, count - 1));
        shard.positions.put = last + 1;
        shard.to_take = offers_.offered(bits::group_of(last)) & ~(bits::of(last) | (bits::of(last) - 1));
    }

    // ---- Owners, see nursery and owner_word

    void own(nursery_position place, value_type handle) noexcept { positions_[place].own(handle); }
    value_type owner(nursery_position place) const noexcept { return positions_[place].value(); }
    void prefetch_owner(nursery_position place) const noexcept {
        prefetch(positions_.owners.data(), raw(place));
    }

    /// Compaction: marks the place of an object that was destroyed. A newborn's is still to be passed; a
    /// promoted object's is as the next shard to claim it needs it.
    void mark_gone(nursery_position place) noexcept {
        if (is_promoted(place)) {
            positions_[place].clear();
        } else {
            positions_[place].mark_gone();
        }
    }

    bool holds(nursery_position place, slot_index slot, typename layout::tag_type tag) const noexcept {
        return positions_[place].is_of(slot, tag);
    }
    static bool reached(typename layout::tag_type tag, value_type owner) noexcept {
        return owner_word<Config>::reached(tag, owner);
    }

    // ---- Compaction's end of the queues, see newborn_consumer: places that were not offered count as none

    auto& consumer() noexcept { return consumer_; }

    /// Compaction: returns how many places are ready, counted from `first`, all of one group; see nursery.
    /// Notes which of them newborns have. For any number of ranges at the same time.
    std::uint32_t scan_ready(std::uint32_t first, std::uint32_t last,
                             const slot_table<Config>& table) noexcept {
        std::uint64_t newborns = 0;
        std::uint32_t end = last;
        offers_.for_each(first, last, [&](std::uint32_t place) {
            owner_word<Config>& owner = positions_.owners[place];
            const bool passed = owner.pass(table);
            end = passed ? last : place;
            newborns |= passed && owner.is_owned() ? bits::of(place) : 0;
            return passed;
        });
        promoted_.note_newborns(bits::group_of(first), newborns);
        return end - first;
    }

    /// Compaction: promotes the newborns in places of one group, as many as were found ready, and calls
    /// `born(place)` for each.
    template <class Born>
    void promote(nursery_position first, std::uint32_t ready, Born born) {
        const std::uint32_t group = bits::group_of(raw(first));
        const std::uint64_t newborns = promoted_.promote(group);
        bits::for_each(group, newborns, born);
        // Others are rare: places of objects that were never promoted, or whose constructors threw.
        bits::for_each(group,
                       offers_.offered(group) & bits::between(raw(first), raw(first) + ready) & ~newborns,
                       [this](nursery_position place) { positions_[place].clear(); });
    }

    /// Compaction: notes that the object at the place was destroyed. Returns false when it was a newborn.
    bool demote(nursery_position place) noexcept {
        if (!promoted_.demote(raw(place))) {
            return false;
        }
        offers_.touch(bits::group_of(raw(place)));
        return true;
    }

    /// Compaction: offers the groups that have holes, unless a shard holds them.
    template <class Recycled>
    void recycle(const Recycled&) noexcept {
        offers_.recycle();
    }

    // ---- Spawners, among which the groups are dealt out

    /// To as many as there are weights. While nobody else uses the places. Throws std::bad_alloc.
    void open_deal(std::span<const std::uint32_t> weights) { offers_.open_deal(weights); }
    void close_deal() noexcept { offers_.close_deal(); }
    /// Compaction, before recycle(): takes the groups from a shard that it has, unless it waits for objects
    /// there. What is left of them is offered like that of others.
    void take_groups_from(chain& shard) noexcept {
        if (consumer_.used(shard, 1) != 0) {
            return;
        }
        positions_.chunks.for_each_chunk(shard.positions,
                                         [this](std::uint32_t group) { offers_.take_back(group); });
        for (const std::uint32_t group : shard.held.left()) {
            positions_.chunks.give_back_chunk(group);
        }
        states_.take_from(shard);
    }

    // ---- Exclusive access: objects are promoted at once, see exclusive_places

    template <class Soon>
    nursery_position take_alone(Soon soon) noexcept {
        return alone_.take([this, soon](nursery_position place) {
            prefetch_owner(place);
            soon(place);
        });
    }
    void give_back_alone(nursery_position place) noexcept { alone_.give_back(place); }
    /// The object that was made at a place has this handle.
    void add_alone(nursery_position place, value_type handle) noexcept {
        own(place, handle);
        promoted_.promote_one(raw(place));
    }
    void remove_alone(nursery_position place) noexcept {
        positions_[place].clear();
        promoted_.demote(raw(place));
        alone_.note_hole(bits::group_of(raw(place)));
    }
    /// Leaves the places to the shards; but while an object is being made, not its group.
    void end_alone(bool is_making) noexcept { alone_.end(is_making); }

    // ---- What iteration sees, see promoted_groups: not during a compaction

    /// The number of promoted objects. Any thread.
    std::size_t promoted() const noexcept { return promoted_.count(); }
    const promoted_groups<policy>& promoted_places() const noexcept { return promoted_; }
    bool is_promoted(nursery_position place) const noexcept { return promoted_.contains(raw(place)); }
    /// Calls `visit(place)` for the promoted objects of a group.
    template <class Visit>
    void for_each_promoted(std::size_t group, Visit visit) const {
        bits::for_each(group, promoted_[group], visit);
    }

    // ---- Memory, see hole_memory: before a hole's goes, the object that is kept there is destroyed

    // shrink() gives memory back: objects would stand in the way of most of it anyway.
    template <class Objects>
    static constexpr void trim(const Objects&) noexcept {}
    template <class Objects>
    void shrink(Objects& objects) noexcept {
        memory_.shrink(objects, destroy_kept_in(objects));
    }
    template <class Objects>
    void shrink_held(Objects& objects, const chain& shard, bool mine) noexcept {
        memory_.shrink_held(objects, shard, mine, destroy_kept_in(objects));
    }

    // ---- Objects

    template <class Objects>
    auto memory_at(Objects& objects, location where) noexcept {
        return lifetimes_.memory_at(objects, where);
    }
    template <class Objects>
    void end_object(Objects& objects, location where) noexcept {
        lifetimes_.end_object(objects, where);
    }
    template <class Objects>
    static bool ends_objects(const Objects& objects) noexcept {
        return Lifetimes::ends_objects(objects);
    }
    /// Destroys the objects that are kept. Only while none lives, and nobody else uses the pool.
    template <class Objects>
    void destroy_kept(Objects& objects) noexcept {
        states_.destroy_kept_after(objects, 0);
    }

    // ---- For captures, see place_states: while nobody else uses the pool and nothing waits for a compaction

    auto& states() noexcept { return states_; }
    const auto& states() const noexcept { return states_; }

    /// Forgets everything. Only while nobody else uses it; the shards' chains must be made anew.
    void reset() noexcept {
        positions_.reset();
        promoted_.reset();
        offers_.reset();
        lifetimes_.reset();
    }

    memory_use memory() const noexcept { return memory_of(positions_, promoted_, offers_, lifetimes_); }

private:
    // A shard claims no further group with more places than this.
    static constexpr std::size_t few_places = policy::claim_groups;

    static constexpr std::uint32_t none = raw(nursery_position::none);

    /// Shard: claims groups: several, if those that looked like the next ones have few places. False when
    /// none is left. Calls `soon(place)` for the places that the shard's next claim will probably get.
    template <class Soon>
    HANDLEPOOL_NOINLINE bool claim_groups(chain& shard, Soon soon) noexcept {
        if (offers_.is_dealt()) {
            return shard.held.refill([&](std::uint32_t* out, std::size_t) {
                *out = offers_.take_dealt(shard.shard - 1U);
                return *out == group_offers<Config>::no_group ? std::size_t{0} : std::size_t{1};
            });
        }
        if (!shard.held.refill([this](std::uint32_t* out, std::size_t wanted) {
                return positions_.chunks.take_chunks(out, wanted);
            })) {
            return false;
        }
        const std::size_t most = most_groups(shard);
        std::size_t groups = 0;
        std::size_t places = 0;
        positions_.chunks.given_back().for_next(this->groups(), [&](std::uint32_t group) {
            bits::for_each(group, offers_.offered(group), [&](nursery_position place) {
                prefetch_owner(place);
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
        return least<std::size_t>(claim_share(policy::claim_groups * offers_.room(),
                                              shard.shard + std::size_t{1}, policy::claim_divisor),
                                  policy::claim_groups);
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
        return place != none ? place : positions_.take_vacated(shard).value_or(none);
    }

    template <class Objects>
    auto destroy_kept_in(Objects& objects) noexcept {
        return [this, &objects](std::size_t group, std::uint64_t places) {
            lifetimes_.destroy_kept(objects, group, places);
        };
    }

    newborn_positions<Config> positions_;
    promoted_groups<policy> promoted_;
    group_offers<Config> offers_;
    newborn_consumer<Config, group_offers<Config>> consumer_{positions_, offers_};
    hole_memory<Config> memory_{positions_, promoted_, offers_};
    exclusive_places<Config> alone_{promoted_, offers_};
    Lifetimes lifetimes_;
    states_type states_{positions_, promoted_, offers_, lifetimes_};
};

} // namespace handlepool::detail

// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/base/least.hpp>
#include <handlepool/detail/placement/group_offers.hpp>
#include <handlepool/detail/placement/newborn_positions.hpp>
#include <handlepool/detail/placement/promoted_groups.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace handlepool::detail {

/// What the places of a stable pool are between two frames: which objects there are, and which places come
/// next. Captures look at that and restore it, snapshots and replicas make it what another pool had. They put
/// objects in and take them out themselves, and say so here; then groups and shards get what they had:
///
/// ```
///  take_from_all() shards ──┬──▶ restore() each group ──▶ restore() each shard ──▶ set_groups()
///                           └──▶ offer_all(): all groups are compaction's, and no shard has any
/// ```
///
/// Only while nobody else uses the pool and nothing waits for a compaction.
///
/// @tparam Lifetimes how objects begin and end, as in stable_places
template <class Config, class Lifetimes>
class place_states {
    using policy = typename Config::policy;
    using chain = newborn_chain<policy>;
    using bits = place_bits<policy>;

public:
    place_states(newborn_positions<Config>& positions, promoted_groups<policy>& promoted,
                 group_offers<Config>& offers, Lifetimes& lifetimes) noexcept
        : positions_(positions), promoted_(promoted), offers_(offers), lifetimes_(lifetimes) {}

    // ---- Groups

    /// The objects of a group, the places that it offers, and who has it.
    struct group_state {
        std::uint64_t promoted = 0;
        typename group_offers<Config>::state offers;

        friend bool operator==(const group_state&, const group_state&) = default;
    };
    group_state state_of(std::uint32_t group) const noexcept {
        return {.promoted = promoted_[group], .offers = offers_.state_of(group)};
    }
    void restore(std::uint32_t group, const group_state& then) noexcept {
        promoted_.restore(group, then.promoted);
        offers_.restore(group, then.offers);
    }

    /// Groups ever used are the first ones, so many; the memory of the others goes back to the system.
    template <class Objects>
    void set_groups(Objects& objects, std::size_t groups) noexcept {
        positions_.discard(objects, groups * bits::group_size,
                           greatest(groups, this->groups()) * bits::group_size);
        positions_.chunks.set_chunks_in_service(groups);
        positions_.chunks.given_back().rewind();
    }

    /// Groups ever used are the first ones, so many; compaction has all of them, and offers their holes. Asks
    /// `promoted(group)` in their order which objects each has, a bit for each. No shard may have a group.
    template <class Objects, class Promoted>
    void offer_all(Objects& objects, std::size_t groups, Promoted promoted) noexcept {
        for (std::size_t i = 0, last = greatest(groups, this->groups()); i != last; ++i) {
            group_state state;
            if (i < groups) {
                state.promoted = promoted(i);
                state.offers = {.taken = state.promoted, .is_owned = true, .is_touched = true};
            }
            restore(static_cast<std::uint32_t>(i), state);
        }
        set_groups(objects, groups);
        offers_.recycle();
    }

    // ---- Shards

    /// What a shard has claimed: the groups of its queue, of which the last is the one where it takes places,
    /// and those that it has claimed after that one.
    struct chain_state {
        std::uint64_t to_take = 0;
        std::uint32_t put = 0;
        std::uint32_t get = 0;
        std::uint32_t beside_one = 0;
        std::size_t queued = 0; // groups
        std::size_t held = 0;
    };
    /// Adds the groups to `groups`. Throws std::bad_alloc.
    chain_state state_of(const chain& shard, std::vector<std::uint32_t>& groups) const {
        chain_state now{.to_take = shard.to_take,
                        .put = shard.positions.put,
                        .get = shard.positions.get,
                        .beside_one = shard.held.wanted_beside_one(),
                        .held = shard.held.left().size()};
        const std::size_t before = groups.size();
        positions_.chunks.for_each_chunk(shard.positions,
                                         [&groups](std::uint32_t group) { groups.push_back(group); });
        now.queued = groups.size() - before;
        groups.insert(groups.end(), shard.held.left().begin(), shard.held.left().end());
        return now;
    }
    /// Takes all groups from a shard. What it has vacated was passed.
    void take_from(chain& shard) noexcept {
        positions_.chunks.unlink(shard.positions);
        shard.reset();
    }
    template <class Shards>
    void take_from_all(Shards& shards) noexcept {
        for (std::size_t i = 0, last = shards.count(); i != last; ++i) {
            take_from(shards[i].newborns);
        }
    }
    /// Gives a shard without groups those that state_of() has added.
    void restore(chain& shard, const chain_state& then, const std::uint32_t* groups) noexcept {
        positions_.chunks.relink(shard.positions, {groups, then.queued}, then.put, then.get);
        shard.held.restore({groups + then.queued, then.held}, then.beside_one);
        shard.to_take = then.to_take;
    }

    // ---- Objects

    /// Returns whether there is an object at a place, living or kept.
    bool is_constructed(nursery_position place) const noexcept {
        const std::uint32_t group = bits::group_of(raw(place));
        return (lifetimes_.constructed(group, promoted_[group]) & bits::of(raw(place))) != 0;
    }
    /// An object was put in a place, which has this handle; or was taken out, and none is kept there.
    void note_put_in(nursery_position place, typename Config::layout::value_type handle) noexcept {
        positions_[place].own(handle);
        lifetimes_.note_constructed(raw(place));
    }
    void note_taken_out(nursery_position place) noexcept { lifetimes_.note_taken_out(raw(place)); }
    /// Before the destructor of an object that was taken out.
    template <class T>
    static void clear_object(void* object) noexcept {
        Lifetimes::template clear_object<T>(object);
    }
    /// Destroys the objects that are kept after the first groups, where none lives.
    template <class Objects>
    void destroy_kept_after(Objects& objects, std::size_t groups) noexcept {
        for (std::size_t group = groups, last = this->groups(); group < last; ++group) {
            lifetimes_.destroy_kept(objects, group, ~promoted_[group]);
        }
    }

private:
    std::size_t groups() const noexcept { return positions_.chunks.chunks_in_service(); }

    newborn_positions<Config>& positions_;
    promoted_groups<policy>& promoted_;
    group_offers<Config>& offers_;
    Lifetimes& lifetimes_;
};

} // namespace handlepool::detail

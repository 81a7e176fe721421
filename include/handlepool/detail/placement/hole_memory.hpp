// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/bit_runs.hpp>
#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/base/least.hpp>
#include <handlepool/detail/placement/group_offers.hpp>
#include <handlepool/detail/placement/newborn_positions.hpp>
#include <handlepool/detail/placement/promoted_groups.hpp>

#include <cstddef>
#include <cstdint>

namespace handlepool::detail {

/// The memory of the holes in a store whose objects stay, wherever they lie. Of the group that a shard holds,
/// compaction may have the places that it passed, and those that the shard was not offered:
///
/// ```
///            passed        get           put      put_end     o promoted   n newborn   _ hole
///             │ o  _  o  _  │ n  n  n  n  │ t  _  t │         t still to be taken
///  goes            ▲     ▲                      ▲             t goes, too, if the shard is the caller's
/// ```
template <class Config>
class hole_memory {
    using policy = typename Config::policy;
    using bits = place_bits<policy>;

public:
    hole_memory(newborn_positions<Config>& positions, const promoted_groups<policy>& promoted,
                group_offers<Config>& offers) noexcept
        : positions_(positions), promoted_(promoted), offers_(offers) {}

    /// Compaction: gives the memory of the holes in groups back that no shard holds. Before it goes, calls
    /// `emptied(group, places)`, with a bit for each place that is free.
    template <class Objects, class Emptied>
    void shrink(Objects& objects, Emptied emptied) noexcept {
        own_rest_of_huge_page(objects);
        offers_.for_owned_with_holes(
            [&](std::size_t first, std::uint64_t owned) { discard_holes(objects, first, owned, emptied); });
    }

    /// Compaction: gives the memory back that is its own in the group that a shard holds; and that of the
    /// places which the shard has still to take, if it is the calling thread's.
    template <class Objects, class Emptied>
    void shrink_held(Objects& objects, const newborn_chain<policy>& shard, bool mine,
                     Emptied emptied) noexcept {
        const auto discard = [&](std::uint32_t first, std::uint64_t places) {
            emptied(bits::group_of(first), places);
            for_each_run(first, places, [&](std::size_t begin, std::size_t end) {
                positions_.discard(objects, begin, end);
            });
        };
        const std::uint64_t to_take = mine ? std::uint64_t{shard.to_take} : 0;
        const std::uint32_t taken_from = to_take == 0 ? 0 : shard.positions.put_end - bits::group_size;
        bool is_done = to_take == 0; // with the places that are still to be taken
        positions_.for_held(shard, [&](std::uint32_t first, std::uint32_t next) {
            const std::uint64_t of_shard =
                offers_.offered(bits::group_of(first)) & ~bits::between(first, next);
            const bool together = !is_done && taken_from == first; // they may share pages
            discard(first, (promoted_.holes(bits::group_of(first)) & ~of_shard) | (together ? to_take : 0));
            is_done = is_done || together;
        });
        if (!is_done) {
            discard(taken_from, to_take);
        }
    }

private:
    /// Groups that were never used have memory where they share a huge page with those that were.
    template <class Objects>
    void own_rest_of_huge_page(const Objects& objects) noexcept {
        auto& groups = positions_.chunks;
        if (groups.chunks_in_service() != 0) {
            const nursery_position last{bits::first_place(groups.chunks_in_service())};
            const std::size_t end = raw(objects.end_of_huge_page(last)) / bits::group_size;
            groups.put_in_service(least(end, groups.chunks()), offers_.most_owned());
        }
    }

    /// Gives the memory of the holes in groups back, counted from `first`. Holes that are neighbours go
    /// together, with the pages that they share.
    template <class Objects, class Emptied>
    void discard_holes(Objects& objects, std::size_t first, std::uint64_t owned, Emptied& emptied) noexcept {
        std::size_t begin = 0;
        std::size_t end = 0;
        for_each_bit(first, owned, [&](std::uint32_t group) {
            const std::uint64_t places = promoted_.holes(group);
            emptied(group, places);
            for_each_run(bits::first_place(group), places, [&](std::size_t run, std::size_t run_end) {
                if (run != end) {
                    positions_.discard(objects, begin, end);
                    begin = run;
                }
                end = run_end;
            });
        });
        positions_.discard(objects, begin, end);
    }

    newborn_positions<Config>& positions_;
    const promoted_groups<policy>& promoted_;
    group_offers<Config>& offers_;
};

} // namespace handlepool::detail

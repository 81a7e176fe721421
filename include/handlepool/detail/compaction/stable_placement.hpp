// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/compaction/stable_promoter.hpp>
#include <handlepool/detail/parts/pool_config.hpp>
#include <handlepool/detail/placement/promoted_iterator.hpp>
#include <handlepool/detail/placement/stable_places.hpp>
#include <handlepool/executor.hpp>
#include <handlepool/placement.hpp>

#include <cstddef>
#include <cstdint>

namespace handlepool::detail {

/// Objects are created where they stay.
template <class Config>
struct placement_parts<Config, stable_placement> {
    using places = stable_places<Config>;
    template <class T>
    using promoter = stable_promoter<T, Config>;

    static constexpr bool stable = true;

    template <class T>
    using iterator = promoted_iterator<T, Config>;
    template <class T>
    using const_iterator = promoted_iterator<const T, Config>;
    template <class Iterator, class Parts>
    static Iterator first(const Parts& parts) noexcept {
        return Iterator(parts.newborns.promoted_places(), parts.newborns.groups(),
                        parts.objects.at(location{}));
    }
    template <class Iterator, class Parts>
    static Iterator last(const Parts&) noexcept {
        return Iterator();
    }

    /// Positions of the store: its places.
    template <class Parts>
    static std::size_t positions(const Parts& parts) noexcept {
        return parts.newborns.groups() * places::group_size;
    }
    /// The slot of the object there; none in a hole, or where an object is not promoted yet.
    template <class Parts>
    static slot_index owner_of(const Parts& parts, std::size_t position) noexcept {
        const nursery_position place{static_cast<std::uint32_t>(position)};
        return parts.newborns.is_promoted(place) ? parts.table.slot_of(parts.newborns.owner(place))
                                                 : slot_index::none;
    }
    template <class Parts>
    static location location_of(const Parts& parts, std::size_t position) noexcept {
        return parts.objects.location_of(nursery_position{static_cast<std::uint32_t>(position)});
    }

    /// Calls `visit(object)` for each object of the store.
    template <executor Executor, class Parts, class Visit>
    static void for_each(Executor& executor, const Parts& parts, Visit visit) {
        for_ranges_or_throw<typename Parts::policy>(
            executor, parts.newborns.groups(), Parts::policy::compaction_grain / places::group_size + 1,
            [&](std::size_t first, std::size_t last) noexcept(noexcept(visit(parts.objects.at(location{})))) {
                for (std::size_t group = first; group != last; ++group) {
                    parts.newborns.for_each_promoted(group, [&](nursery_position place) {
                        visit(parts.objects.at(parts.objects.location_of(place)));
                    });
                }
            });
    }
};

} // namespace handlepool::detail

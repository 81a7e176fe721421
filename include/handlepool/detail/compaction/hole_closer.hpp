// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/base/least.hpp>
#include <handlepool/detail/compaction/reaper.hpp>
#include <handlepool/detail/parts/pool_state.hpp>

#include <cstddef>
#include <cstdint>

namespace handlepool::detail {

/// Compaction with the option `keep_order`: closes the holes without changing the order of the survivors, and
/// cuts the dense store. Survivors move down, each by the number of holes before it. Returns how many moved.
/// Linear in what lies after the first hole.
template <class T, class Config>
std::size_t close_holes_in_order(pool_state<T, Config>& parts, reaper<T, Config>& holes) noexcept {
    constexpr std::uint32_t slots_ahead = 16; // how far ahead of the object that moves its slot is asked for
    if (holes.hole_count() == 0) {
        return 0;
    }
    std::uint32_t to = raw(holes.hole(0));
    for (std::size_t i = 1; i != holes.hole_count(); ++i) {
        to = least(to, raw(holes.hole(i)));
    }
    std::size_t moved = 0;
    for (std::uint32_t from = to, size = parts.objects.size(); from != size; ++from) {
        if (from + slots_ahead < size) {
            parts.table.prefetch_slot(parts.objects.owner(dense_position{from + slots_ahead}));
        }
        const slot_index slot = parts.objects.owner(dense_position{from});
        if (slot != slot_index::none) {
            parts.objects.relocate(location{from}, location{to});
            parts.own(dense_position{to}, slot);
            ++to;
            ++moved;
        }
    }
    parts.objects.resize(to);
    holes.forget_holes();
    return moved;
}

} // namespace handlepool::detail

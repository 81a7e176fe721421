// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/index_types.hpp>

#include <cstddef>
#include <cstdint>

namespace handlepool::test {

/// Makes of `take(position)` what a nursery calls for runs of positions that are ready.
template <class Nursery, class Take>
auto each_newborn(Nursery& newborns, Take& take) {
    return [&newborns, &take](detail::nursery_position first, std::uint32_t count) {
        for (std::uint32_t i = 0; i != count; ++i) {
            const detail::nursery_position position{raw(first) + i};
            using layout = typename Nursery::layout;
            if (layout::is_alive(layout::tag_of(newborns.owner(position)))) {
                take(position); // may ask whose it is
            }
            newborns.take_out(position);
        }
    };
}

/// Drains what is ready of a shard's nursery, and calls `take(position)` for its newborns, as a compaction
/// does that is run by an executor: in two steps.
template <class Nursery, class Slots, class Take>
void drain_newborns(Nursery& newborns, typename Nursery::chain& shard, const Slots& slots, Take take) {
    std::size_t ready = 0;
    bool all = true;
    newborns.consumer().for_pending(shard, [&](std::uint32_t first, std::uint32_t last) {
        const std::uint32_t count = newborns.scan_ready(first, last, slots);
        ready += all ? count : 0;
        all = all && count == last - first;
    });
    newborns.consumer().drain(shard, ready, each_newborn(newborns, take));
}

} // namespace handlepool::test

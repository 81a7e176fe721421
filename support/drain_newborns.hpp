#pragma once

#include <cstddef>
#include <cstdint>

namespace handlepool::test {

/// Drains what is ready of a lane's nursery, and calls `take(position)` for its newborns, as a compaction
/// does.
template <class Nursery, class Slots, class Take>
void drain_newborns(Nursery& newborns, typename Nursery::chain& lane, const Slots& slots, Take take) {
    std::size_t ready = 0;
    bool all = true;
    newborns.for_pending(lane, [&](std::uint32_t first, std::uint32_t last) {
        const std::uint32_t count = newborns.scan_published(first, last, slots);
        ready += all ? count : 0;
        all = all && count == last - first;
    });
    newborns.drain(lane, ready, take);
}

} // namespace handlepool::test

// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/base/least.hpp>
#include <handlepool/detail/placement/newborn_positions.hpp>
#include <handlepool/detail/queues/budget.hpp>

#include <cstddef>
#include <cstdint>

namespace handlepool::detail {

/// Each position of a range may have a newborn.
struct all_positions {
    /// Calls `visit(position)` for those of a range of one chunk, as long as it returns true.
    template <class Visit>
    static void for_each(std::uint32_t first, std::uint32_t last, Visit visit) {
        while (first != last && visit(first)) {
            ++first;
        }
    }
    /// Returns the end of the first `left` of them, and counts them down.
    static std::uint32_t end_of(std::uint32_t first, std::uint32_t last, std::size_t& left) noexcept {
        const auto count = static_cast<std::uint32_t>(least<std::size_t>(last - first, left));
        left -= count;
        return first + count;
    }
};

/// Compaction's end of the shards' queues of newborns. It counts positions in three ways:
///
/// ```
///    drained   │ o  o  v  g  o    │ x  o  o        │ .  .  .  .  .  .     o owned   v vacated   g gone
///             get                                                         x not published yet   . empty
///    ready     └─────────────────┘                   owner_word::pass() says so of each
///    used      └──────────────────────────────────┘  not empty; a budget is spent on these
///    pending   └─────────────────────────────────────────────────────┘  to the end of the last chunk
/// ```
///
/// @tparam Candidates the positions of a range that its shard may take: all_positions, or what a group offers
template <class Config, class Candidates>
class newborn_consumer {
public:
    using chain = newborn_chain<typename Config::policy>;

    newborn_consumer(newborn_positions<Config>& positions, const Candidates& candidates) noexcept
        : positions_(positions), candidates_(candidates) {}

    /// Calls `visit(first, last)` for the ranges of the shard's pending positions, none longer than a chunk,
    /// in their order.
    template <class Visit>
    void for_pending(const chain& shard, Visit visit) const {
        positions_.chunks.for_pending(shard.positions, [&](std::uint32_t first, std::uint32_t last) {
            visit(first, last);
            return true;
        });
    }
    /// The number of pending positions, without the last ones that are empty now: what comes there later is
    /// not pending.
    std::size_t pending(const chain& shard) const {
        std::size_t count = 0;
        std::uint32_t last_begin = 0;
        std::uint32_t last_end = 0;
        for_pending(shard, [&](std::uint32_t first, std::uint32_t last) {
            count += last - first;
            last_begin = first;
            last_end = last;
        });
        std::uint32_t used_end = last_begin;
        candidates_.for_each(last_begin, last_end, [&](std::uint32_t position) {
            used_end = is_empty(position) ? used_end : position + 1;
            return true;
        });
        return count - (last_end - used_end);
    }

    /// Calls `visit(first, last)` for the ranges of the first `left` used positions, as far as the first that
    /// is empty, and counts them down. Returns whether those are all before it.
    template <class Visit>
    bool for_used(const chain& shard, std::size_t& left, Visit visit) const {
        bool all = true;
        positions_.chunks.for_pending(shard.positions, [&](std::uint32_t first, std::uint32_t last) {
            std::uint32_t end = last;
            candidates_.for_each(first, last, [&](std::uint32_t position) {
                const bool is_used = !is_empty(position);
                if (is_used && left != 0) {
                    --left;
                    return true;
                }
                all = !is_used;
                end = position;
                return false;
            });
            if (end != first) {
                visit(first, end);
            }
            return end == last;
        });
        return all;
    }
    /// The number of those positions, `most` if there are more.
    std::size_t used(const chain& shard, std::size_t most) const {
        std::size_t left = most;
        for_used(shard, left, [](std::uint32_t, std::uint32_t) {});
        return most - left;
    }

    /// Drains the shard's next `count` positions, which are ready, in runs of neighbours: calls
    /// `take(first position, count)` for each, which clears them.
    template <class Take>
    void drain(chain& shard, std::size_t count, Take take) {
        while (count != 0) {
            positions_.chunks.follow(shard.positions);
            const std::uint32_t first = shard.positions.get;
            const auto ready =
                static_cast<std::uint32_t>(least<std::size_t>(count, shard.positions.get_end - first));
            take(nursery_position{first}, ready);
            shard.positions.get = first + ready;
            count -= ready;
        }
        positions_.chunks.follow(shard.positions); // so that a chunk is done with as soon as there is another
    }

    /// Finds out what is ready and drains it in one pass: in the first `most` used positions, and in those
    /// that were pending when the shard's chain was last looked at. `scan(first, last)` returns how many
    /// positions are ready from the first on, and `take` is called as by drain(). Returns whether it left out
    /// positions for that limit alone.
    template <class Scan, class Take>
    bool drain_ready(chain& shard, std::size_t most, Scan scan, Take take) {
        std::size_t left = least<std::size_t>(most, shard.pending);
        bool ready = true;
        while (ready && left != 0 && positions_.chunks.follow(shard.positions)) {
            const std::uint32_t first = shard.positions.get;
            const std::uint32_t end = shard.positions.get_end;
            const std::uint32_t last = most == unlimited ? all_positions::end_of(first, end, left)
                                                         : candidates_.end_of(first, end, left);
            const std::uint32_t count = scan(first, last);
            take(nursery_position{first}, count);
            shard.positions.get = first + count;
            ready = count == last - first;
        }
        positions_.chunks.follow(shard.positions); // so that a chunk is done with as soon as there is another
        return ready && left == 0 && used(shard, 1) != 0;
    }

private:
    bool is_empty(std::uint32_t position) const noexcept { return positions_.owners[position].is_empty(); }

    newborn_positions<Config>& positions_;
    const Candidates& candidates_;
};

} // namespace handlepool::detail

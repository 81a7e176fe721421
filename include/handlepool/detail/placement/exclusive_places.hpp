// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/bit_runs.hpp>
#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/base/least.hpp>
#include <handlepool/detail/placement/group_offers.hpp>
#include <handlepool/detail/placement/promoted_groups.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace handlepool::detail {

/// Where a thread puts objects that is alone with a stable pool: into the holes of groups that no shard
/// holds, of those near the front first. Compaction owns the groups meanwhile, whose work the thread does,
/// and so nothing is claimed for each object:
///
/// ```
///  new holes, offered ──own_next()──▶ following ──▶ current, whose holes are left ──take()──▶ full
///         ▲                               │                    │
///         └───────────────────────────────┴──────end()─────────┘
/// ```
template <class Config>
class exclusive_places {
    using policy = typename Config::policy;
    using bits = place_bits<policy>;

public:
    exclusive_places(const promoted_groups<policy>& promoted, group_offers<Config>& offers) noexcept
        : promoted_(promoted), offers_(offers) {}

    /// Takes a place. None when there is none. Calls `soon(place)` for such as are probably taken some calls
    /// later.
    template <class Soon>
    nursery_position take(Soon soon) noexcept {
        if (left_ == 0 && !begin_group(soon)) [[unlikely]] {
            return nursery_position::none;
        }
        const std::uint64_t left = left_;
        left_ = left & (left - 1);
        return nursery_position{bits::first_place(current_) +
                                static_cast<std::uint32_t>(std::countr_zero(left))};
    }
    /// No object was made at the place that was taken last.
    void give_back(nursery_position place) noexcept { left_ = left_ | bits::of(raw(place)); }

    /// A place of the group has become a hole.
    void note_hole(std::uint32_t group) noexcept {
        offers_.touch(group);
        first_word_ = least<std::size_t>(first_word_, group / group_offers<Config>::groups_a_word);
    }

    /// Offers all groups to shards; but while an object is being made, not its group.
    void end(bool is_making) noexcept {
        touch(following_);
        if (!is_making) {
            touch(current_);
            left_ = 0;
        }
        const bool has_new_holes = current_ != no_group && offers_.untouch(current_);
        offers_.recycle();
        if (has_new_holes) {
            offers_.touch(current_);
        }
        first_word_ = 0;
    }

private:
    static constexpr std::uint32_t no_group = group_offers<Config>::no_group;

    template <class Soon>
    HANDLEPOOL_NOINLINE bool begin_group(Soon soon) noexcept {
        current_ = following_ != no_group ? std::uint32_t{following_} : next_group();
        if (current_ == no_group) {
            return false;
        }
        left_ = promoted_.holes(current_);
        offers_.untouch(current_); // those holes are known now
        following_ = offers_.own_next(first_word_);
        if (following_ != no_group) {
            bits::for_each(following_, lowest_bits(promoted_.holes(following_), places_ahead), soon);
        }
        return true;
    }
    std::uint32_t next_group() noexcept {
        const std::uint32_t group = offers_.own_next(first_word_);
        return group != no_group ? group : offers_.own_unused();
    }

    void touch(std::uint32_t& group) noexcept {
        if (group != no_group) {
            offers_.touch(std::exchange(group, no_group));
        }
    }

    // Of the following group, as many places are asked for at once as lines can be on their way.
    static constexpr std::size_t places_ahead = 8;

    const promoted_groups<policy>& promoted_;
    group_offers<Config>& offers_;
    std::uint64_t left_ = 0; // holes of the current group, a bit for each
    std::uint32_t current_ = no_group;
    std::uint32_t following_ = no_group;
    std::size_t first_word_ = 0; // no group of the words before has a hole
};

} // namespace handlepool::detail

// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/least.hpp>

#include <cstddef>
#include <cstdint>

namespace handlepool::detail {

/// How much a compaction may do; an unlimited one leaves nothing to the next. Shards, or the pools of a
/// service, divide it: each gets what it wants, or an equal share where that is too much, and what those
/// before it have left.
///
/// Three shards want 2, 9 and 9 of a budget of 10. All are asked first, and for each as much is kept as it
/// wants, but no more than an equal share, 10 / 3. Then one after the other takes:
///
///             wants   kept for it   left, less what is kept for those after it   gets
///   shard 0     2          2                    10 - (3 + 3)                      2
///   shard 1     9          3                     8 - 3                            5
///   shard 2     9          3                     3 - 0                            3
///
/// When they want more by the time they take, the shares change, but not their sum.
class fair_budget {
public:
    constexpr fair_budget() = default;
    /// Number `turn` comes first, which matters where there is less than one for each.
    constexpr fair_budget(std::size_t most, std::uint64_t turn) noexcept : most_(most), turn_(turn) {}

    constexpr std::size_t most() const noexcept { return most_; }
    /// The budget for a part of the work, with the same turn.
    constexpr fair_budget part(std::size_t most) const noexcept { return {most, turn_}; }

    /// Calls `take(i, share)` for each of `count`, where the share may be 0. `wanted(i, most)` says how much
    /// each wants, `most` if that is more.
    template <class Wanted, class Take>
    void divide(std::size_t count, Wanted wanted, Take take) const {
        if (most_ == unlimited) {
            for (std::size_t i = 0; i != count; ++i) {
                take(i, unlimited);
            }
            return;
        }
        std::size_t takers = 0;
        for (std::size_t i = 0; i != count; ++i) {
            takers += wanted(i, std::size_t{1});
        }
        const std::size_t equal = takers == 0 ? 0 : most_ / takers;
        std::size_t kept = 0; // of what is left, and never more
        for (std::size_t i = 0; i != count; ++i) {
            kept += least(wanted(i, equal), most_ - kept);
        }
        std::size_t left = most_;
        for (std::size_t i = 0; i != count; ++i) {
            const std::size_t next = (turn_ + i) % count;
            const std::size_t wants = wanted(next, left);
            kept -= least(kept, least(wants, equal));
            const std::size_t share = least(wants, left - kept);
            left -= share;
            take(next, share);
        }
    }

private:
    std::size_t most_ = unlimited;
    std::uint64_t turn_ = 0;
};

} // namespace handlepool::detail

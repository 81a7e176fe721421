// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/least.hpp>

#include <cstddef>
#include <limits>

namespace handlepool::detail {

/// The budget of a compaction that leaves nothing to the next one.
inline constexpr std::size_t unlimited = (std::numeric_limits<std::size_t>::max)();

/// Divides a budget among several who take from it one after the other: each gets what it wants, unless that
/// would leave those after it less than they want or than an equal share. All are asked first; when they want
/// more by the time they take, or others do, the shares change, but not their sum.
class budget_shares {
public:
    /// `takers` of them want something.
    budget_shares(std::size_t budget, std::size_t takers) noexcept
        : left_(budget), equal_(takers == 0 ? 0 : budget / takers) {}

    /// What is not taken yet, and an equal share of the whole.
    std::size_t left() const noexcept { return left_; }
    std::size_t equal() const noexcept { return equal_; }

    /// One of them wants so much.
    void announce(std::size_t wanted) noexcept {
        promised_ += least(wanted, least(equal_, left_ - promised_));
    }

    /// How much the next of them gets.
    std::size_t take(std::size_t wanted) noexcept {
        promised_ -= least(promised_, least(wanted, equal_));
        const std::size_t taken = least(wanted, left_ - promised_);
        left_ -= taken;
        return taken;
    }

private:
    std::size_t left_;
    std::size_t equal_;
    std::size_t promised_ = 0; // of what is left, to those who come later; never more
};

/// Divides a budget among `count` things: calls `take(i, most)` for each, beginning at `first`, where `most`
/// may be 0. `wanted(i, most)` says how much each wants, `most` if that is more.
template <class Wanted, class Take>
void share_among(std::size_t count, std::size_t first, std::size_t budget, Wanted wanted, Take take) {
    if (budget == unlimited) {
        for (std::size_t i = 0; i != count; ++i) {
            take(i, unlimited);
        }
        return;
    }
    std::size_t takers = 0;
    for (std::size_t i = 0; i != count; ++i) {
        takers += wanted(i, std::size_t{1});
    }
    budget_shares shares(budget, takers);
    for (std::size_t i = 0; i != count; ++i) {
        shares.announce(wanted(i, shares.equal()));
    }
    for (std::size_t i = 0; i != count; ++i) {
        const std::size_t next = (first + i) % count;
        take(next, shares.take(wanted(next, shares.left())));
    }
}

} // namespace handlepool::detail

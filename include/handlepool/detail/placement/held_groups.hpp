// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

namespace handlepool::detail {

/// Groups of stable_places that a shard has claimed and not begun.
template <class Policy>
class held_groups {
public:
    bool empty() const noexcept { return next_ == end_; }

    /// The next one. There must be one.
    std::uint32_t take() noexcept {
        const std::uint32_t next = next_;
        next_ = next + 1;
        return groups_[next];
    }

    /// How many groups beside one the next refill() claims at the most; fewer than Policy::claim_groups.
    void want_beside_one(std::size_t groups) noexcept { beside_one_ = static_cast<std::uint32_t>(groups); }

    /// Claims groups by `claim(out, wanted)`, which returns how many it wrote. False when it wrote none.
    /// There must be none left.
    template <class Claim>
    bool refill(Claim claim) noexcept {
        next_ = 0;
        end_ = static_cast<std::uint32_t>(claim(groups_, std::size_t{beside_one_} + 1));
        return !empty();
    }

    /// Forgets them. Only while nobody else looks.
    void reset() noexcept { next_ = end_ = beside_one_ = 0; }

private:
    typename Policy::template plain<std::uint32_t> next_{0};
    typename Policy::template plain<std::uint32_t> end_{0};
    typename Policy::template plain<std::uint32_t> beside_one_{0};
    std::uint32_t groups_[Policy::claim_groups]{};
};

} // namespace handlepool::detail

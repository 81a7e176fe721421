// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/index_types.hpp>
#include <handlepool/detail/base/least.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace handlepool::detail {

/// Slots that a thread has claimed for its next objects. The thread takes them and claims more; any thread
/// may ask how many are left.
template <class Policy>
class slot_claim {
public:
    /// Slots that were not used yet. Relaxed: callers that must not miss a claim say what orders it.
    std::uint32_t left() const noexcept { return left_.load(std::memory_order::relaxed); }

    /// The next slot, or none. Calls `soon(slot)` for one that comes some calls later, or any value, for
    /// prefetching.
    template <class Soon>
    slot_index take(Soon soon) noexcept {
        const std::uint32_t left = this->left();
        if (left == 0) [[unlikely]] {
            return slot_index::none;
        }
        left_.store(left - 1, std::memory_order::relaxed);
        const std::uint32_t* const next = slots_ + Policy::claim_size - left;
        soon(slot_index{next[read_ahead]});
        return slot_index{*next};
    }

    /// The next slot, where there is one.
    slot_index take_one() noexcept {
        const std::uint32_t left = this->left();
        left_.store(left - 1, std::memory_order::relaxed);
        return slot_index{slots_[Policy::claim_size - left]};
    }

    /// Claims up to `wanted` slots by `claim(out, wanted)`, which returns how many it wrote. Returns the
    /// first of them, or none. There must be none left.
    template <class Claim>
    slot_index refill(std::size_t wanted, Claim claim) noexcept {
        // What will be left is counted before the claim, and published by its exchange, (11), (15) or (33):
        // a thread that finds the pool full because of this claim also sees its unused slots.
        set_left(wanted);
        std::uint32_t* const first = slots_ + Policy::claim_size - wanted;
        const std::size_t claimed = claim(first, wanted);
        if (claimed != wanted) {
            std::memmove(slots_ + Policy::claim_size - claimed, first, claimed * sizeof(*first));
        }
        set_left(claimed);
        return claimed == 0 ? slot_index::none : slot_index{slots_[Policy::claim_size - claimed]};
    }

    /// Shard: the slots that go out before any of which take() calls `soon`.
    std::span<const std::uint32_t> first_unused() const noexcept {
        return unused().first(least<std::size_t>(left(), read_ahead));
    }

    // For captures, while nobody else uses the pool.

    /// Those that were not used yet, in the order in which they go out.
    std::span<const std::uint32_t> unused() const noexcept {
        return {slots_ + Policy::claim_size - left(), left()};
    }
    /// Makes it hold these, which unused() gave.
    void restore(std::span<const std::uint32_t> unused) noexcept {
        std::uint32_t* next = slots_ + Policy::claim_size - unused.size();
        for (const std::uint32_t slot : unused) {
            *next++ = slot;
        }
        left_.store(static_cast<std::uint32_t>(unused.size()), std::memory_order::relaxed);
    }

    /// Forgets them. Only while nobody else looks.
    void reset() noexcept { set_left(0); }

private:
    /// Notes that all but the first of `claimed` slots are left.
    void set_left(std::size_t claimed) noexcept {
        left_.store(static_cast<std::uint32_t>(claimed == 0 ? 0 : claimed - 1), std::memory_order::relaxed);
    }

    // Padding after the slots, so that prefetching may read past them.
    static constexpr std::uint32_t read_ahead = 8;

    // How many slots are left: the last ones of `slots_` before the padding.
    typename Policy::template atomic<std::uint32_t> left_{0};
    std::uint32_t slots_[Policy::claim_size + read_ahead]{};
};

} // namespace handlepool::detail

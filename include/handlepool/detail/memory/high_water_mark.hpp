// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/least.hpp>

#include <array>
#include <cstddef>

namespace handlepool::detail {

/// How much of an array that is filled from its beginning in each frame keeps its memory: as much as two of
/// the last eight frames used, and a quarter more. So a frame that needs much for once, such as a bulk load,
/// does not leave its memory behind, and what is needed again and again is not faulted in each time. Of
/// compaction alone.
template <class Policy>
class high_water_mark {
public:
    struct range {
        std::size_t first = 0;
        std::size_t last = 0;
        friend bool operator==(range, range) = default;
    };

    /// The first `spare` elements keep their memory anyway; the others lose it in multiples of as many, which
    /// best are whole pages.
    explicit high_water_mark(std::size_t spare) : spare_(spare) {}

    /// Elements before `last` may have memory now.
    void touch(std::size_t last) noexcept { touched_ = greatest<std::size_t>(touched_, last); }

    /// A frame has ended that used so many elements. Returns those whose memory is to go: the last ones that
    /// have some, and no more than the frame used or `spare`, so that they cost no more than the frame did.
    range end_frame(std::size_t used) noexcept {
        used_[frame_] = used;
        frame_ = (frame_ + 1) % frames;
        const std::size_t last = touched_;
        if (last <= spare_) {
            return {last, last};
        }
        const std::size_t kept = used_twice() * 5 / 4 + spare_;
        const std::size_t most = greatest<std::size_t>(used, spare_);
        const std::size_t first = last <= kept ? last : greatest(kept, last - least(last, most));
        touched_ = least(round_up(first), last);
        return {touched_, last};
    }

    /// Elements that may have memory are the first ones.
    std::size_t touched() const noexcept { return touched_; }

    /// None has memory any more.
    void discarded() noexcept { touched_ = 0; }

private:
    template <class Value>
    using plain = typename Policy::template plain<Value>;

    static constexpr std::size_t frames = 8;

    /// To a multiple of `spare`, so that what goes back begins on a page.
    std::size_t round_up(std::size_t first) const noexcept {
        const std::size_t over = spare_ == 0 ? 0 : first % spare_;
        return over == 0 ? first : first + (spare_ - over);
    }

    /// What two of the last frames used.
    std::size_t used_twice() const noexcept {
        std::size_t most = 0;
        std::size_t second = 0;
        for (const std::size_t used : used_) {
            second = greatest(second, least(most, used));
            most = greatest(most, used);
        }
        return second;
    }

    std::size_t spare_;
    std::array<plain<std::size_t>, frames> used_{};
    plain<std::size_t> frame_{0}; // whose place in `used_` is next
    plain<std::size_t> touched_{0};
};

} // namespace handlepool::detail

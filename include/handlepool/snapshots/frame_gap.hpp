// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>
#include <handlepool/snapshots/invalid_snapshot.hpp>

#include <cstdint>
#include <string>

namespace handlepool {

/// A delta of another frame than the one that comes next: one is missing between, or it was applied before.
/// Whoever has no other needs a snapshot of a later frame.
class HANDLEPOOL_EXPORT frame_gap : public invalid_snapshot {
public:
    /// `here` is the frame that the receiver has, `before` the one that the delta follows.
    frame_gap(const std::string& message, std::uint64_t here, std::uint64_t before)
        : invalid_snapshot(message), here_(here), before_(before) {}

    /// The frame that the receiver has.
    std::uint64_t here() const noexcept { return here_; }
    /// The frame that the delta follows.
    std::uint64_t before() const noexcept { return before_; }

private:
    std::uint64_t here_;
    std::uint64_t before_;
};

} // namespace handlepool

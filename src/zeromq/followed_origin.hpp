// SPDX-License-Identifier: MIT
#pragma once

#include "zeromq_message.hpp"

#include <handlepool/detail/base/config.hpp>
#include <handlepool/detail/followers/frame_position.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace handlepool::detail {

/// What a message means to a follower.
enum class zeromq_news {
    next, ///< the delta that comes next
    old,  ///< what it knows already
    loss  ///< something is missing: only a snapshot helps
};

/// Where a follower is in the history of its origin.
class HANDLEPOOL_EXPORT followed_origin {
public:
    bool is_known() const noexcept { return position_.has_value(); }

    /// From here on, it is where this snapshot was saved.
    void begin(const zeromq_header& snapshot) noexcept;
    void forget() noexcept { position_.reset(); }

    /// What a delta or a position means; it is known where the follower is. With `next`, it has this delta
    /// from here on; with `loss`, `problem` says what has happened. Throws std::bad_alloc.
    zeromq_news hear(const zeromq_message& message, std::string& problem);

private:
    std::uint64_t origin_ = 0;
    std::optional<frame_position> position_;
};

} // namespace handlepool::detail

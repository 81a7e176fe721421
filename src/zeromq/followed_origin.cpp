// SPDX-License-Identifier: MIT
#include "followed_origin.hpp"

namespace handlepool::detail {

void followed_origin::begin(const zeromq_header& snapshot) noexcept {
    origin_ = snapshot.origin;
    position_ = {.frame = snapshot.frame, .history = snapshot.history};
}

zeromq_news followed_origin::hear(const zeromq_message& message, std::string& problem) {
    const zeromq_header& header = message.header;
    const frame_position here = *position_;
    if (header.origin != origin_) {
        problem = "the publisher has begun anew, with frame " + std::to_string(header.frame) + " or before";
        return zeromq_news::loss;
    }
    if (header.frame < here.frame) {
        return zeromq_news::old;
    }
    if (header.frame == here.frame) {
        if (header.history == here.history) {
            return zeromq_news::old;
        }
    } else if (header.before != here.frame) { // so it is with each position that is later
        problem = "frames are missing: here is " + std::to_string(here.frame) + ", and what comes next " +
                  (header.kind == zeromq_kind::delta
                       ? "leads from " + std::to_string(header.before) + " to " + std::to_string(header.frame)
                       : "is of " + std::to_string(header.frame));
        return zeromq_news::loss;
    } else if (header.history == history_after(here.history, message.payload)) {
        position_ = {.frame = header.frame, .history = header.history};
        return zeromq_news::next;
    }
    problem = "frame " + std::to_string(header.frame) + " has another history here";
    return zeromq_news::loss;
}

} // namespace handlepool::detail

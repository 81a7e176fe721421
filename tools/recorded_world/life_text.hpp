// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/text/text.hpp>
#include <handlepool/snapshots/told_lives.hpp>

#include <fmt/format.h>

#include <string>

namespace handlepool::recorded_worlds {

/// "erased by thread "physics" in explode() at ship.cpp:88, 3 frames before".
inline std::string text_of(const told_event& event) {
    std::string text = detail::printable(event.to_string());
    if (event.frames_ago != 0) {
        text += fmt::format(", {} {} before", event.frames_ago, event.frames_ago == 1 ? "frame" : "frames");
    }
    return text + (event.is_undone ? " (taken back by a restore)" : "");
}

/// The end of a life, and its beginning behind that, as far as they are there.
inline std::string text_of(const told_life& life) {
    if (!life.end) {
        return life.beginning ? text_of(*life.beginning) : "alive";
    }
    return text_of(*life.end) + (life.beginning ? "; " + text_of(*life.beginning) : "");
}

} // namespace handlepool::recorded_worlds

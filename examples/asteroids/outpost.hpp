// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/pool.hpp>

#include <fmt/format.h>

#include <cstdint>
#include <cstdio>
#include <deque>

namespace asteroids {

struct station {
    std::uint64_t built_in_frame = 0;
};

/// What --inspect adds to the world: a station, buoys that come and go, and a bug, which ends the station.
/// Who asks the page for the station's handle sees the line that has erased it.
class outpost {
public:
    outpost() { build_station(); }

    void run_frame(std::uint64_t frame) {
        launch_buoy(frame);
        retire_buoys();
        call_home(frame);
        stations_.compact();
    }

private:
    void build_station() {
        home_ = stations_.emplace();
        drawn_.push_back(home_);
    }

    void launch_buoy(std::uint64_t frame) { drawn_.push_back(stations_.emplace(station{frame})); }

    // The planted bug: what was drawn first is no buoy.
    void retire_buoys() {
        while (drawn_.size() > 120) {
            stations_.erase(drawn_.front());
            drawn_.pop_front();
        }
    }

    void call_home(std::uint64_t frame) {
        if (is_home_there_ && !stations_.contains(home_)) {
            is_home_there_ = false;
            fmt::print("Frame {}: the station {:#x} is gone. Who erased my station?\n", frame, home_.value());
            std::fflush(stdout);
        }
    }

    handlepool::pool<station> stations_{
        {.name = "stations", .capacity = 1000, .record_lives = 4, .pool_id = 5}};
    handlepool::handle<station> home_;
    std::deque<handlepool::handle<station>> drawn_; // in this order
    bool is_home_there_ = true;
};

} // namespace asteroids

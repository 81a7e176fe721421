// SPDX-License-Identifier: MIT
#pragma once

#include "world.hpp"

#include <handlepool/time/capture_ring.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace rollback {

/// How often something was done, and how long all of it took.
struct cost {
    template <class Work>
    void measure(const Work& work) {
        const auto begin = std::chrono::steady_clock::now();
        work();
        sum += std::chrono::steady_clock::now() - begin;
        ++count;
    }
    double average() const { return count == 0 ? 0 : sum.count() / static_cast<double>(count); }

    std::chrono::duration<double, std::micro> sum{};
    std::uint64_t count = 0;
};

/// The last frames of a world. What is outside of the pools goes back with them.
class past {
public:
    past(world& of, std::size_t frames)
        : world_(of),
          states_(frames),
          ships_(of.ship_log, {.frames = frames}),
          shots_(of.shot_log, {.frames = frames}) {}

    void capture(std::uint64_t frame) {
        captures.measure([&] {
            ships_.capture(frame);
            shots_.capture(frame);
            state_of(frame) = world_.now;
        });
    }

    /// Returns the ships that are undone. Who has not been taken back forgets them: their handles will be
    /// those of others.
    std::vector<handlepool::handle<ship>> restore(std::uint64_t frame) {
        std::vector<handlepool::handle<ship>> undone;
        restores.measure([&] {
            undone = ships_.restore(frame);
            shots_.restore(frame);
            world_.now = state_of(frame);
        });
        return undone;
    }

    void confirm(std::uint64_t frame) {
        ships_.confirm(frame);
        shots_.confirm(frame);
    }
    bool is_confirmed(handlepool::handle<ship> built) const { return ships_.is_confirmed(built); }

    /// Whether another frame can be captured without giving up the oldest.
    bool has_room() const { return ships_.size() != states_.size(); }

    cost captures;
    cost restores;

private:
    world::state& state_of(std::uint64_t frame) { return states_[frame % states_.size()]; }

    world& world_;
    std::vector<world::state> states_; // of frame f at f % size
    handlepool::capture_ring<world::ships_type> ships_;
    handlepool::capture_ring<world::shots_type> shots_;
};

} // namespace rollback

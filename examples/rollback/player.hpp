// SPDX-License-Identifier: MIT
#pragma once

#include "../require.hpp"
#include "connection.hpp"
#include "past.hpp"
#include "world.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <utility>
#include <vector>

namespace rollback {

/// Fingers that hold buttons for a while, and then others.
class fingers {
public:
    explicit fingers(std::uint32_t seed) : random_(seed) {}

    buttons next() {
        if (frames_left_ == 0) {
            held_.turn = static_cast<std::int8_t>(static_cast<std::int32_t>(random_() % 3) - 1);
            held_.thrust = random_() % 3 != 0;
            held_.fire = random_() % 2 != 0;
            frames_left_ = 4 + random_() % 40;
        }
        --frames_left_;
        return held_;
    }

private:
    std::minstd_rand random_;
    buttons held_;
    std::uint64_t frames_left_ = 0;
};

/// Where the players' ships are in a frame, as far as they have some.
using sight = std::array<std::optional<vector2>, players>;
inline sight look_at(const world& space) {
    return {space.place_of(0), space.place_of(1)};
}

struct settings {
    std::uint64_t frames;
    std::uint32_t seed;
    std::size_t drones;
    std::size_t kept;
};

/// One of the two, with a world of its own. Its own input counts at once; that of the other is taken to be
/// what it was when it was last heard of, and when it turns out to have been another, the world goes back to
/// before that frame, and the frames since then are simulated again.
class player {
public:
    player(std::size_t self, const settings& chosen, connection& out, connection& in)
        : space(chosen.seed, chosen.drones),
          self_(self),
          chosen_(chosen),
          out_(out),
          in_(in),
          fingers_(chosen.seed + static_cast<std::uint32_t>(self) + 1),
          past_(space, chosen.kept) {}

    /// In the thread that plays, because its first use of the pools belongs before the first capture.
    void begin() {
        space.simulate({});
        announce_later();
        past_.capture(0);
        fingerprints.push_back(space.fingerprint());
        seen.push_back(look_at(space));
    }

    /// What there is to do in a sixtieth of a second.
    void play(std::uint64_t now) {
        receive(now);
        if (first_wrong_) {
            repair(*std::exchange(first_wrong_, std::nullopt));
        }
        past_.confirm(known());
        announce();
        if (frame() != chosen_.frames) {
            if (past_.has_room()) {
                own_.push_back(fingers_.next());
                guessed_.emplace_back();
                run_frame(frame());
                seen.push_back(look_at(space));
            } else {
                ++waits; // the other is so late that a repair would need a frame that is not kept
            }
        }
        out_.send(now,
                  {.acknowledged = others_.size() - 1,
                   .first = acknowledged_ + 1,
                   .inputs = {own_.begin() + static_cast<std::ptrdiff_t>(acknowledged_ + 1), own_.end()}});
    }

    /// Whether all frames are over, and none of them is a guess.
    bool is_done() const { return known() == chosen_.frames; }

    const past& times() const { return past_; }
    const std::vector<buttons>& inputs_of_own() const { return own_; }

    world space;
    std::vector<std::uint64_t> fingerprints; // of the world, by frames; those of a wrong course are replaced
    std::vector<sight> seen;                 // when the frame was simulated first, right or wrong
    std::uint64_t announced = 0;             // ships that were told of, which can't be untold
    std::uint64_t undone = 0;                // ships that never were
    std::uint64_t repaired_frames = 0;
    std::uint64_t longest_repair = 0;
    std::uint64_t waits = 0;

private:
    /// The newest, and the last one for which both inputs are known.
    std::uint64_t frame() const { return own_.size() - 1; }
    std::uint64_t known() const { return std::min(frame(), std::uint64_t{others_.size() - 1}); }

    void receive(std::uint64_t now) {
        for (const packet& each : in_.receive(now)) {
            acknowledged_ = std::max(acknowledged_, each.acknowledged);
            for (std::size_t i = 0; i != each.inputs.size(); ++i) {
                const std::uint64_t of = each.first + i;
                if (of == others_.size()) { // not known yet
                    others_.push_back(each.inputs[i]);
                    if (of <= frame() && guessed_[of] != each.inputs[i] && !first_wrong_) {
                        first_wrong_ = of;
                    }
                }
            }
        }
    }

    void run_frame(std::uint64_t number) {
        guessed_[number] = number < others_.size() ? others_[number] : others_.back();
        inputs held;
        held[self_] = own_[number];
        held[1 - self_] = guessed_[number];
        space.simulate(held);
        announce_later();
        past_.capture(number);
        space.check();
        fingerprints.resize(number);
        fingerprints.push_back(space.fingerprint());
    }

    void repair(std::uint64_t wrong) {
        for (const auto ship : past_.restore(wrong - 1)) {
            undone += std::erase(waiting_, ship);
        }
        space.check();
        examples::require(space.fingerprint() == fingerprints[wrong - 1],
                          "player {}: frame {} was restored, and is not what it was", self_ + 1, wrong - 1);
        const std::uint64_t count = frame() - wrong + 1;
        for (std::uint64_t again = wrong; again != wrong + count; ++again) {
            run_frame(again);
        }
        repaired_frames += count;
        longest_repair = std::max(longest_repair, count);
    }

    /// A sound that was played can't be taken back. So what is new waits until no restore can undo it.
    void announce_later() { waiting_.insert(waiting_.end(), space.built.begin(), space.built.end()); }
    void announce() {
        announced += std::erase_if(waiting_, [this](auto ship) { return past_.is_confirmed(ship); });
    }

    std::size_t self_;
    settings chosen_;
    connection& out_;
    connection& in_;
    fingers fingers_;
    past past_;
    // By frames, from 0 on, in which nobody holds anything.
    std::vector<buttons> own_{1};
    std::vector<buttons> others_{1};
    std::vector<buttons> guessed_{1};
    std::optional<std::uint64_t> first_wrong_;
    std::uint64_t acknowledged_ = 0; // by the other, of the own ones
    std::vector<handlepool::handle<ship>> waiting_;
};

} // namespace rollback

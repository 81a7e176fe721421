// SPDX-License-Identifier: MIT
#pragma once

#include "../require.hpp"
#include "geometry.hpp"

#include <handlepool/pool.hpp>
#include <handlepool/time/change_log.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <random>
#include <span>
#include <utility>
#include <vector>

namespace rollback {

constexpr std::size_t players = 2;

/// What a player holds down in a frame.
struct buttons {
    std::int8_t turn = 0; // -1, 0 or 1
    bool thrust = false;
    bool fire = false;
    friend bool operator==(const buttons&, const buttons&) = default;
};
using inputs = std::array<buttons, players>;

/// Beside the numbers of players: drones look for whoever has hit them, stations only stand and fire.
constexpr std::int32_t drone = 2;
constexpr std::int32_t station = 3;
constexpr bool is_player(std::int32_t flies) {
    return flies < drone;
}

struct ship {
    std::uint64_t number; // unlike all others'
    vector2 position;
    vector2 velocity = {};
    std::int32_t heading = 0;
    std::int32_t hull = 4;
    std::int32_t reload = 0; // frames until it can fire again
    std::int32_t flown_by = drone;
    handlepool::handle<ship> enemy = {}; // whoever has hit it last
    std::uint64_t number_of_enemy = 0;
};

struct shot {
    handlepool::handle<ship> shooter; // which may be gone when the shot hits
    std::uint64_t number_of_shooter;
    vector2 position;
    vector2 velocity;
    std::int32_t frames_left = 50;
    std::int32_t fired_by; // as in a ship
};

/// The same inputs make the same world: the same objects, with the same handles, in the same order.
class world {
public:
    using ships_type = handlepool::pool<ship>;
    using shots_type = handlepool::pool<shot>;

    /// What is not in a pool. It is copied as a whole when a frame is captured.
    struct state {
        std::minstd_rand
            random; // the standard says which numbers it gives, which it doesn't of distributions
        std::uint64_t ships_built = 0;
        std::array<handlepool::handle<ship>, players> flown = {};
        std::array<std::int32_t, players> frames_away = {};
        std::array<std::int32_t, players> score = {};
    };

    /// Empty. The first frame brings the ships.
    world(std::uint32_t seed, std::size_t drones) : drones_(drones) { now.random.seed(seed); }

    /// A frame, up to its end: that is a compaction of both pools, or a capture.
    void simulate(const inputs& held) {
        built.clear();
        const std::span<ship> fleet = ships.mutable_items();
        for (std::size_t i = 0; i != fleet.size(); ++i) {
            ship& each = fleet[i];
            if (each.flown_by == station) {
                if (now.random() % 64 == 0) {
                    fire(each);
                }
            } else {
                ship_log.mark_at(i); // what a capture is to copy
                fly(each, is_player(each.flown_by) ? held[static_cast<std::size_t>(each.flown_by)]
                                                   : wish_of_drone(each));
            }
        }
        const std::span<shot> fired = shots.mutable_items();
        for (std::size_t i = 0; i != fired.size(); ++i) {
            shot_log.mark_at(i);
            fly(fired[i]);
        }
        for (std::size_t player = 0; player != players; ++player) {
            if (!ships.contains(now.flown[player]) && --now.frames_away[player] < 0) {
                now.flown[player] = build(static_cast<std::int32_t>(player));
                now.frames_away[player] = 60;
            }
        }
        while (ships.size() < drones_ + players && (now.random() % 32 == 0 || now.ships_built < drones_)) {
            build(now.random() % 2 == 0 ? drone : station);
        }
    }

    /// Requires that each stored handle leads to the ship that it was made for, or nowhere when that is gone.
    void check() const {
        for (const ship& each : ships.items()) {
            check(each.enemy, each.number_of_enemy);
        }
        for (const shot& each : shots.items()) {
            check(each.shooter, each.number_of_shooter);
        }
        for (std::size_t player = 0; player != players; ++player) {
            const ship* const flown = ships.find(now.flown[player]);
            examples::require(flown == nullptr || static_cast<std::size_t>(flown->flown_by) == player,
                              "player {} has the ship of another", player + 1);
        }
    }

    /// Of all objects and their handles, in the order of positions, and of the rest.
    std::uint64_t fingerprint() const {
        mixer sum;
        for (const auto& [handle, each] : ships.entries()) {
            sum.add(handle).add(each.number).add(each.position).add(each.velocity).add(each.enemy);
            sum.add(each.heading)
                .add(each.hull)
                .add(each.reload)
                .add(each.flown_by)
                .add(each.number_of_enemy);
        }
        for (const auto& [handle, each] : shots.entries()) {
            sum.add(handle).add(each.shooter).add(each.number_of_shooter).add(each.position);
            sum.add(each.velocity).add(each.frames_left).add(each.fired_by);
        }
        for (std::size_t player = 0; player != players; ++player) {
            sum.add(now.flown[player]).add(now.frames_away[player]).add(now.score[player]);
        }
        auto random = now.random;
        return sum.add(now.ships_built).add(random()).result;
    }

    /// Where a player's ship is, if there is one.
    std::optional<vector2> place_of(std::size_t player) const {
        const ship* const flown = ships.find(now.flown[player]);
        return flown == nullptr ? std::nullopt : std::optional(flown->position);
    }

    // How many slots a thread claims at once, and so which handles come next, depends in a small pool on the
    // thread's number in its process. It must not, because the other player's thread has another number. A
    // pool of this capacity, which costs nothing but address space, gives each of the first few threads as
    // many slots as any thread may claim.
    ships_type ships{{.name = "ships", .capacity = 100'000}};
    shots_type shots{{.name = "shots", .capacity = 100'000}};
    handlepool::change_log<ships_type> ship_log{ships};
    handlepool::change_log<shots_type> shot_log{shots};
    state now;
    std::vector<handlepool::handle<ship>> built; // in the last frame

private:
    struct mixer {
        mixer& add(std::uint64_t value) {
            result = (result ^ value) * 0x9e3779b97f4a7c15U;
            result ^= result >> 32;
            return *this;
        }
        mixer& add(std::int32_t value) { return add(std::uint64_t{static_cast<std::uint32_t>(value)}); }
        mixer& add(vector2 value) { return add(value.x).add(value.y); }
        /// Without the pool's id, which is another one in each world of a process.
        template <class T>
        mixer& add(handlepool::handle<T> value) {
            return add(std::uint64_t{value.index()}).add(std::uint64_t{value.generation()});
        }
        std::uint64_t result = 0;
    };

    handlepool::handle<ship> build(std::int32_t flown_by) {
        const auto random = [this] { return static_cast<std::int32_t>(now.random() >> 4); };
        // One after the other: in a call, the order of the three would be the compiler's.
        ship made{.number = ++now.ships_built, .position = {}, .flown_by = flown_by};
        made.position.x = wrapped(random());
        made.position.y = wrapped(random());
        made.heading = random() % headings;
        return built.emplace_back(ships.insert(std::move(made)));
    }

    buttons wish_of_drone(const ship& one) {
        buttons wish{.turn = 0, .thrust = now.random() % 4 != 0, .fire = now.random() % 64 == 0};
        if (const ship* const enemy = ships.find(one.enemy)) {
            const vector2 there = way(one.position, enemy->position) / pixel;
            const vector2 ahead = direction(one.heading);
            const std::int32_t aside = ahead.x * there.y - ahead.y * there.x;
            wish.turn = static_cast<std::int8_t>((aside > 0) - (aside < 0));
        } else if (now.random() % 8 == 0) {
            wish.turn = static_cast<std::int8_t>(static_cast<std::int32_t>(now.random() % 3) - 1);
        }
        return wish;
    }

    void fly(ship& one, const buttons& held) {
        one.heading = turned(one.heading, held.turn);
        one.velocity = one.velocity - one.velocity / 16;
        if (held.thrust) {
            one.velocity = one.velocity + direction(one.heading);
        }
        one.position = wrapped(one.position + one.velocity);
        one.reload = std::max(one.reload - 1, 0);
        if (held.fire && one.reload == 0) {
            one.reload = 8;
            fire(one);
        }
    }

    void fire(const ship& one) {
        shots.insert({.shooter = ships.handle_of(one),
                      .number_of_shooter = one.number,
                      .position = one.position,
                      .velocity = one.velocity + direction(one.heading) * 24,
                      .fired_by = one.flown_by});
    }

    void fly(shot& one) {
        one.position = wrapped(one.position + one.velocity);
        const handlepool::handle<ship> target = find_target(one);
        if (target) {
            hit(target, one);
        }
        if (target || --one.frames_left == 0) {
            shots.erase(shots.handle_of(one));
        }
    }

    /// Null when it hits nothing. Ships that were shot in this frame are in the store until it is compacted,
    /// but not among the living.
    handlepool::handle<ship> find_target(const shot& one) {
        for (const auto& [handle, each] : ships.living()) {
            const vector2 there = way(one.position, each.position);
            if (std::abs(there.x) < 16 * pixel && std::abs(there.y) < 16 * pixel &&
                each.number != one.number_of_shooter) {
                return handle;
            }
        }
        return {};
    }

    void hit(handlepool::handle<ship> handle, const shot& by) {
        ship& target = *ship_log.edit(handle); // finds and marks: it may be a station
        target.enemy = by.shooter;
        target.number_of_enemy = by.number_of_shooter;
        const bool is_end = --target.hull == 0;
        if (is_end) {
            ships.erase(handle);
        }
        if (is_player(by.fired_by)) {
            now.score[static_cast<std::size_t>(by.fired_by)] += is_end ? 10 : 1;
        }
        if (ship* const shooter = ship_log.edit(by.shooter)) { // null if that is gone
            shooter->hull = std::min(shooter->hull + (is_end ? 1 : 0), 8);
        }
    }

    void check(handlepool::handle<ship> stored, std::uint64_t number) const {
        const ship* const found = ships.find(stored);
        const auto fleet = ships.items();
        const bool lives = std::ranges::find(fleet, number, &ship::number) != fleet.end();
        examples::require((found != nullptr) == lives, "a handle of ship {} is {}, the ship is {}", number,
                          found != nullptr ? "alive" : "stale", lives ? "alive" : "gone");
        examples::require(found == nullptr || found->number == number, "a handle of ship {} leads to ship {}",
                          number, found == nullptr ? 0 : found->number);
    }

    std::size_t drones_;
};

} // namespace rollback

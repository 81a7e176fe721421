// SPDX-License-Identifier: MIT
#pragma once

#include "../require.hpp"
#include "geometry.hpp"
#include "grid.hpp"
#include "stopwatch.hpp"

#include <handlepool/pool.hpp>
#include <handlepool/service.hpp>
#include <handlepool/tbb/for_each.hpp>

#include <atomic>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace asteroids {

// ---- The objects, one pool for each type

// A handle, and the number of the object that it was made for: check() compares it with the number of the
// object that the handle resolves to.
template <class T>
struct link {
    handlepool::handle<T> to;
    std::uint64_t number = 0;

    bool holds(const handlepool::pool<T>& objects) const {
        const T* const object = objects.find(to);
        return object == nullptr || object->number == number;
    }
};

struct body {
    std::uint64_t number = 0; // unlike all others'
    vector2 position;
    vector2 velocity; // in a frame
};

struct rock : body {
    float radius = 0;
};

struct ship : body {
    int frames_to_next_shot = 0;
    link<rock> target;
};

struct projectile : body {
    int frames_left = 0;
    link<ship> shooter;
};

struct debris : body {
    int frames_left = 0;
};

constexpr float largest_rock = 8;
constexpr float smallest_rock = 2;
constexpr float ship_radius = 2.5F;
constexpr float projectile_speed = 3;
constexpr int frames_between_shots = 20;
constexpr int frames_in_flight = 40;
constexpr int frames_to_fade = 20;

// ---- What happens to them

struct world {
    // Without objects. Of each slot's last lives so many are recorded. With spawners these alone create and
    // erase, so many at the same time.
    world(std::size_t objects, std::uint64_t random_seed, std::size_t recorded_lives = 0,
          std::size_t spawners = 0)
        : entities(objects), seed(random_seed), lives(recorded_lives), tasks(spawners) {}

    void add_first_objects() {
        auto alone = pools.exclusive_access(); // one thread loads
        replace_rocks(alone.view_of(rocks));
        replace_ships(alone.view_of(ships));
        pool_time.take(); // of the first objects: not part of a frame
    }

    void replace_rocks(handlepool::exclusive_pool<rock>& alone) {
        const auto timed = pool_time.measure();
        while (alone.size() < entities * 9 / 20) {
            alone.insert({anywhere(0.3F), largest_rock});
        }
    }
    void replace_ships(handlepool::exclusive_pool<ship>& alone) {
        const auto timed = pool_time.measure();
        for (std::size_t i = alone.size(); i < entities * 3 / 20; ++i) {
            alone.insert({anywhere(0.5F), static_cast<int>(i % frames_between_shots), {}});
        }
    }
    body anywhere(float speed) {
        const std::uint64_t number = derive(seed, replaced++);
        return {.number = number,
                .position = (direction(derive(number, 0)) + vector2{1, 1}) * (side / 2),
                .velocity = direction(derive(number, 1)) * speed};
    }

    // What follows does one task's part, with what creates and erases: a pool, or a spawner of it.

    template <class Projectiles>
    void aim(handlepool::handle<ship> self, ship& one, Projectiles& shots) {
        if (--one.frames_to_next_shot > 0) {
            return;
        }
        const rock* const last = rocks.find(one.target.to);
        const rock* const target = last != nullptr ? last : rock_grid.find_nearest(one.position);
        if (target == nullptr) {
            return;
        }
        one.target = {rocks.handle_of(*target), target->number};
        one.frames_to_next_shot = frames_between_shots;
        const body shot = {.number = derive(one.number, frames),
                           .position = one.position,
                           .velocity = with_length(target->position - one.position, projectile_speed)};
        const auto timed = pool_time.measure();
        shots.insert({shot, frames_in_flight, {self, one.number}});
    }

    template <class Ships, class Hit>
    void fly(handlepool::handle<ship> self, ship& one, Ships& own, const Hit& hit) {
        move(one);
        if (break_rocks(one.position, ship_radius, hit)) {
            erase(own, self);
        }
    }

    template <class Projectiles, class Hit>
    void fly(handlepool::handle<projectile> self, projectile& one, Projectiles& own, const Hit& hit) {
        move(one);
        const bool any = break_rocks(one.position, 0, hit);
        if (any) { // the ship may have crashed long ago, or just now in another task
            ++(ships.contains(one.shooter.to) ? hits : hits_of_lost_ships);
        }
        if (--one.frames_left == 0 || any) {
            erase(own, self);
        }
    }

    template <class Debris>
    void fade(handlepool::handle<debris> self, debris& one, Debris& own) {
        move(one);
        if (--one.frames_left == 0) {
            erase(own, self);
        }
    }

    /// One that was erased, and can be read until the compaction.
    template <class Rocks, class Debris>
    void split(const rock& whole, Rocks& pieces, Debris& ashes) {
        ++rocks_split;
        for (std::uint64_t piece = 0; piece != 2; ++piece) {
            rock part = whole;
            part.number = derive(whole.number, piece);
            part.velocity = direction(part.number) * 0.6F;
            part.radius /= 2;
            if (part.radius >= smallest_rock) {
                pieces.insert(part);
            } else {
                ashes.insert({part, frames_to_fade});
            }
        }
    }

    /// Calls `hit(handle, rock)` for those within the radius. Returns whether there were any.
    template <class Hit>
    bool break_rocks(vector2 place, float radius, const Hit& hit) {
        bool any = false;
        rock_grid.visit_touching(place, radius, [&](handlepool::handle<rock> which, const rock& whole) {
            any = true;
            const auto timed = pool_time.measure();
            hit(which, whole);
        });
        return any;
    }

    void move(body& one) const { one.position = wrapped(one.position + one.velocity, side); }

    template <class Objects, class Handle>
    void erase(Objects& where, Handle self) {
        const auto timed = pool_time.measure();
        examples::require(where.erase(self), "{}: one was erased already", where.name());
    }

    // ---- What must hold after each frame

    void check() {
        fingerprint = check(rocks) + check(ships) + check(projectiles) + check(dust);
        examples::require(rocks.stats().destroyed == rocks_split, "rocks: {} split, others destroyed",
                          rocks_split.load());
    }

    // Returns the same for the same objects, in any order.
    template <class T>
    std::uint64_t check(const handlepool::pool<T>& objects) const {
        const handlepool::pool_stats stats = objects.stats();
        examples::require(stats.created == stats.alive + stats.destroyed &&
                              stats.alive == objects.items().size(),
                          "{}: {} created, but {} alive, {} in the dense store and {} destroyed", stats.name,
                          stats.created, stats.alive, objects.items().size(), stats.destroyed);
        const auto check_object = [&](std::uint64_t sum, const T& one) {
            examples::require(objects.find(objects.handle_of(one)) == &one, "{}: {:x} is unreachable",
                              stats.name, one.number);
            examples::require(links_hold(one), "{}: {:x} has a wrong link", stats.name, one.number);
            return sum + derive(one.number, std::bit_cast<std::uint64_t>(one.position));
        };
        return handlepool::reduce(objects, std::uint64_t{0}, check_object, std::plus());
    }

    bool links_hold(const body&) const { return true; }
    bool links_hold(const ship& one) const { return one.target.holds(rocks); }
    bool links_hold(const projectile& one) const { return one.shooter.holds(ships); }

    std::size_t entities;
    std::uint64_t seed;
    std::size_t lives;
    std::size_t tasks;
    std::uint64_t frames = 0; // that have ended
    std::uint64_t replaced = 0;
    float side = 20 * std::sqrt(static_cast<float>(entities)); // of the square that the world is

    // The ids are in all handles, so they are the same in each process that goes on with this world.
    handlepool::service pools;
    handlepool::pool<rock>& rocks = pools.add<handlepool::pool<rock>>(
        "rocks", {.capacity = 4 * entities, .record_lives = lives, .spawners = tasks, .pool_id = 1});
    handlepool::pool<ship>& ships = pools.add<handlepool::pool<ship>>(
        "ships", {.capacity = entities, .record_lives = lives, .spawners = tasks, .pool_id = 2});
    handlepool::pool<projectile>& projectiles = pools.add<handlepool::pool<projectile>>(
        "projectiles", {.capacity = 4 * entities, .record_lives = lives, .spawners = tasks, .pool_id = 3});
    handlepool::pool<debris>& dust = pools.add<handlepool::pool<debris>>(
        "debris", {.capacity = 4 * entities, .record_lives = lives, .spawners = tasks, .pool_id = 4});

    grid<rock> rock_grid{side, 20};
    stopwatch pool_time; // of emplace and erase
    std::atomic<std::uint64_t> rocks_split = 0;
    std::atomic<std::uint64_t> hits = 0;
    std::atomic<std::uint64_t> hits_of_lost_ships = 0;
    std::uint64_t fingerprint = 0;
};

} // namespace asteroids

// SPDX-License-Identifier: MIT
#pragma once

#include "world.hpp"

#include <handlepool/snapshots/world_hash.hpp>
#include <handlepool/time/change_log.hpp>

#include <cstdint>

namespace asteroids {

// What counts of each object: all of it.
template <class Hash>
void hash_body(const body& one, Hash& hash) {
    hash(one.number);
    hash(one.position.x);
    hash(one.position.y);
    hash(one.velocity.x);
    hash(one.velocity.y);
}
template <class T, class Hash>
void hash_link(const link<T>& one, Hash& hash) {
    hash(one.to);
    hash(one.number);
}
template <class Hash>
void for_each_hashed(const rock& one, Hash& hash) {
    hash_body(one, hash);
    hash(one.radius);
}
template <class Hash>
void for_each_hashed(const ship& one, Hash& hash) {
    hash_body(one, hash);
    hash(one.frames_to_next_shot);
    hash_link(one.target, hash);
}
template <class Hash>
void for_each_hashed(const projectile& one, Hash& hash) {
    hash_body(one, hash);
    hash(one.frames_left);
    hash_link(one.shooter, hash);
}
template <class Hash>
void for_each_hashed(const debris& one, Hash& hash) {
    hash_body(one, hash);
    hash(one.frames_left);
}

/// A number for all objects, with their handles and in their order.
inline std::uint64_t hash_of(world& space) {
    handlepool::change_log rocks(space.rocks);
    handlepool::change_log ships(space.ships);
    handlepool::change_log projectiles(space.projectiles);
    handlepool::change_log dust(space.dust);
    handlepool::world_hash hash;
    hash.add("rocks", rocks);
    hash.add("ships", ships);
    hash.add("projectiles", projectiles);
    hash.add("debris", dust);
    return hash.update();
}

} // namespace asteroids

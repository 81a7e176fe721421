// SPDX-License-Identifier: MIT
#pragma once

#include "../asteroids/geometry.hpp"

#include <handlepool/handle.hpp>

#include <cstdint>

namespace boids {

using asteroids::vector2;

struct boid {
    std::uint64_t number; // unlike all others'
    vector2 position;
    vector2 velocity; // in a frame
    std::uint32_t cell;
    vector2 next_velocity = {};
    float agreement = 0; // with its neighbours: from -1, the opposite way, to 1
};

struct hawk {
    vector2 position;
    vector2 velocity;
    handlepool::handle<boid> prey;
    std::uint64_t number_of_prey = 0;
};

} // namespace boids

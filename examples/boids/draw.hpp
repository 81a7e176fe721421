// SPDX-License-Identifier: MIT
#pragma once

#include "../asteroids/picture.hpp"
#include "bird.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <string>
#include <vector>

namespace boids {

/// An SVG file, with a colour for each way to fly.
template <class Boids>
std::string draw(float side, const std::string& title, const Boids& birds, const std::vector<hawk>& hawks) {
    constexpr std::array colours = {"#ff5d5d", "#ffc24d", "#a8e05f", "#4fd6be", "#5c9dff", "#c77dff"};
    constexpr std::array names = {"right", "right, down", "left, down", "left", "left, up", "right, up"};
    std::array<std::vector<boid>, colours.size()> groups;
    for (const boid& each : birds) {
        const float turn = std::atan2(each.velocity.y, each.velocity.x) / (2 * std::numbers::pi_v<float>);
        const auto group = static_cast<std::size_t>((turn + 1) * colours.size() + 0.5F) % colours.size();
        groups[group].push_back(each);
    }
    asteroids::picture map(side, "boids", title);
    for (std::size_t i = 0; i != groups.size(); ++i) {
        map.add_arrowheads(names[i], colours[i], 1.6F, groups[i]);
    }
    map.add_arrowheads("hawks", "#ffffff", 7, hawks);
    return map.text();
}

} // namespace boids

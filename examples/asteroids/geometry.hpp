// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstdint>

namespace asteroids {

struct vector2 {
    float x = 0;
    float y = 0;

    friend vector2 operator+(vector2 a, vector2 b) { return {a.x + b.x, a.y + b.y}; }
    friend vector2 operator-(vector2 a, vector2 b) { return {a.x - b.x, a.y - b.y}; }
    friend vector2 operator*(vector2 a, float factor) { return {a.x * factor, a.y * factor}; }
    friend float length(vector2 a) { return std::sqrt(a.x * a.x + a.y * a.y); }
};

/// In the direction of `a`, which is not zero.
inline vector2 with_length(vector2 a, float wanted) {
    return a * (wanted / length(a));
}

/// What leaves the square from 0 to `side` comes back on its other side.
inline vector2 wrapped(vector2 place, float side) {
    const auto inside = [side](float x) { return x < 0 ? x + side : x >= side ? x - side : x; };
    return {inside(place.x), inside(place.y)};
}

/// A number that looks random and depends on its two sources alone: the finalizer of SplitMix64. What objects
/// do is drawn from their own numbers in this way, and so does not depend on which thread draws first.
constexpr std::uint64_t derive(std::uint64_t source, std::uint64_t purpose) {
    std::uint64_t mixed = source + 0x9e3779b97f4a7c15 * (purpose + 1);
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
    return mixed ^ (mixed >> 31);
}

/// From 0 to 1, without 1.
constexpr float fraction(std::uint64_t number) {
    return static_cast<float>(number >> 40) * 0x1p-24F;
}

/// In the square from -1 to 1.
constexpr vector2 direction(std::uint64_t number) {
    return {2 * fraction(derive(number, 0)) - 1, 2 * fraction(derive(number, 1)) - 1};
}

} // namespace asteroids

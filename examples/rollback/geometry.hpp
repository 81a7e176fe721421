// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

// Integers only: two machines whose compilers round differently would soon live in two worlds.
namespace rollback {

struct vector2 {
    std::int32_t x = 0;
    std::int32_t y = 0;

    friend vector2 operator+(vector2 a, vector2 b) { return {a.x + b.x, a.y + b.y}; }
    friend vector2 operator-(vector2 a, vector2 b) { return {a.x - b.x, a.y - b.y}; }
    friend vector2 operator*(vector2 a, std::int32_t by) { return {a.x * by, a.y * by}; }
    friend vector2 operator/(vector2 a, std::int32_t by) { return {a.x / by, a.y / by}; }
};

/// Units of a pixel, and the side of the square world, whose opposite edges are one. It is a power of two, so
/// that a mask wraps.
constexpr std::int32_t pixel = 1 << 10;
constexpr std::int32_t side = 1 << 20;

constexpr std::int32_t wrapped(std::int32_t coordinate) {
    return coordinate & (side - 1);
}
inline vector2 wrapped(vector2 place) {
    return {wrapped(place.x), wrapped(place.y)};
}

/// The shortest way from one place to another.
inline vector2 way(vector2 from, vector2 to) {
    const vector2 there = wrapped(to - from + vector2{side / 2, side / 2});
    return there - vector2{side / 2, side / 2};
}

constexpr std::int32_t headings = 16;

/// The way of a heading, a quarter of a pixel long.
inline vector2 direction(std::int32_t heading) {
    constexpr std::array<std::int32_t, headings> sine = {0, 98,  181,  237,  256,  237,  181,  98,
                                                         0, -98, -181, -237, -256, -237, -181, -98};
    return {sine[static_cast<std::size_t>((heading + headings / 4) % headings)],
            sine[static_cast<std::size_t>(heading)]};
}

constexpr std::int32_t turned(std::int32_t heading, std::int32_t by) {
    return (heading + by + headings) % headings;
}

} // namespace rollback

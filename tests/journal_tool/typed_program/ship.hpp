// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/handle.hpp>

#include <array>
#include <cstdint>

// A member of each kind, of which no snapshot_layout says anything.
namespace game {

template <class Number>
struct vec {
    Number x;
    Number y;
};

enum class order : std::int8_t { flee = -1, wait, attack = 100 };
enum signal : std::uint32_t { green, red = 200 };

/// Compilers describe it where its constructor is.
struct engine {
    engine();
    float thrust;
    bool burns;
};

struct hold {
    struct box; // defined outside, as its name is
};
struct hold::box {
    std::uint16_t weight;
};

struct vessel {
    std::uint32_t number;
};

struct ship : vessel {
    static std::int32_t count;

    vec<float> position;
    std::int16_t slots[4];
    std::uint8_t map[2][3];
    std::array<double, 2> speeds;
    vec<std::int8_t> corners[2];
    order now;
    signal shown;
    bool is_armed;
    char16_t letter;
    const ship* leader;
    std::uint32_t shield : 5;
    std::int32_t heat : 6;
    bool is_lit : 1;
    std::uint16_t cargo : 11;
    engine drive;
    hold::box box;
    handlepool::handle<ship> target;
    union {
        float real;
        std::uint8_t bytes[4];
    } any;
    struct {
        std::int64_t number;
        float size;
    } port;
    long double wide;
    std::uint8_t picture[5000];
};

namespace {
struct hidden {
    std::int32_t depth;
};
} // namespace

struct only_declared;

} // namespace game

// SPDX-License-Identifier: MIT
#pragma once

#include "player.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rollback {

/// How far from its place in pixels somebody saw a ship; 0 when one of the two has none.
inline double distance(const std::optional<vector2>& seen, const std::optional<vector2>& there) {
    if (!seen || !there) {
        return 0;
    }
    const vector2 between = way(*seen, *there);
    return std::hypot(between.x, between.y) / pixel;
}

/// An SVG file: where the two saw both ships, and below it how far from its place each saw that of the other.
/// `seen` are the frames of both players, `truth` those of a world without a network.
inline std::string draw(const std::array<std::vector<sight>, players>& seen,
                        const std::vector<sight>& truth) {
    constexpr int size = side / pixel;
    constexpr int header = 90;
    constexpr int chart = 220;
    constexpr std::array<std::array<std::string_view, 2>, players> colours = {
        {{"#3fd0ff", "#8f6bff"}, {"#ff5d5d", "#ffb347"}}};
    std::string out = fmt::format(R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0} {1}">)"
                                  R"(<rect width="{0}" height="{1}" fill="#05070f"/>)"
                                  R"(<g font-family="sans-serif" font-size="18" fill="#dfe5f5">)",
                                  size, size + header + chart);
    std::string lines;
    for (std::size_t viewer = 0; viewer != players; ++viewer) {
        for (std::size_t ship = 0; ship != players; ++ship) {
            const std::string_view colour = colours[ship][viewer];
            out += fmt::format(R"(<text x="{}" y="{}" fill="{}">ship {} as player {} saw it</text>)",
                               20 + 320 * ship, 30 + 30 * viewer, colour, ship + 1, viewer + 1);
            std::string path;
            std::optional<vector2> before;
            for (const sight& each : seen[viewer]) {
                if (const auto& at = each[ship]) {
                    // A new ship, or one that has left the map on the other side, begins a new line.
                    const bool goes_on =
                        before && std::hypot(at->x - before->x, at->y - before->y) < side / 8;
                    path += fmt::format("{}{:.1f} {:.1f}", goes_on ? 'L' : 'M', double(at->x) / pixel,
                                        double(at->y) / pixel);
                }
                before = each[ship];
            }
            lines += fmt::format(R"(<path d="{}" fill="none" stroke="{}" stroke-width="{}"/>)", path, colour,
                                 viewer == ship ? 3 : 1.5);
        }
    }
    out += fmt::format(R"(</g><svg y="{0}" width="{1}" height="{1}">{2}</svg>)", header, size, lines);

    double most = 1;
    std::array<std::string, players> charts;
    std::array<std::vector<double>, players> errors;
    for (std::size_t viewer = 0; viewer != players; ++viewer) {
        for (std::size_t frame = 0; frame != truth.size(); ++frame) {
            errors[viewer].push_back(distance(seen[viewer][frame][1 - viewer], truth[frame][1 - viewer]));
            most = std::max(most, errors[viewer].back());
        }
    }
    out += fmt::format(R"-(<g transform="translate(0 {})" font-family="sans-serif" font-size="18">)-"
                       R"(<rect width="{}" height="{}" fill="#10172c"/>)"
                       R"(<text x="20" y="26" fill="#dfe5f5">pixels from its place at which each player saw )"
                       R"(the other's ship: up to {:.0f}, in {} frames</text>)",
                       size + header, size, chart, most, truth.size() - 1);
    for (std::size_t viewer = 0; viewer != players; ++viewer) {
        std::string path;
        for (std::size_t frame = 0; frame != truth.size(); ++frame) {
            path += fmt::format("{}{:.1f} {:.1f}", frame == 0 ? 'M' : 'L',
                                double(frame) * size / double(truth.size()),
                                chart - 5 - errors[viewer][frame] / most * (chart - 50));
        }
        out += fmt::format(R"(<path d="{}" fill="none" stroke="{}" stroke-width="1.5"/>)", path,
                           colours[1 - viewer][viewer]);
    }
    return out + "</g></svg>\n";
}

} // namespace rollback

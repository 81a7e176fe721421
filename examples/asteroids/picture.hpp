// SPDX-License-Identifier: MIT
#pragma once

#include "geometry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <functional>
#include <ostream>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

namespace asteroids {

/// A map of the square from 0 to `side` as an SVG file, with a legend above it. All that is drawn into a
/// layer is one path, so that a hundred thousand objects make a file of some two megabytes.
class picture {
public:
    picture(float side, std::string title, std::string subtitle)
        : scale_(size / side), title_(std::move(title)), subtitle_(std::move(subtitle)) {}

    // ---- Layers, each above those before it, of objects with a position

    template <class Objects>
    void add_dots(std::string name, std::string colour, float width, const Objects& objects) {
        layer& added = add_layer(std::move(name), std::move(colour), width);
        for (const auto& each : objects) {
            added.line(each.position, {});
        }
    }

    /// Discs of the objects' radii, of which there are few: a layer for each, the largest at the bottom.
    template <class Objects>
    void add_discs(const std::string& name, const std::string& colour, const Objects& objects) {
        std::set<float, std::greater<>> radii;
        for (const auto& each : objects) {
            radii.insert(each.radius);
        }
        for (const float radius : radii) {
            layer& added = add_layer(fmt::format("{}, radius {}", name, radius), colour, 2 * radius);
            for (const auto& each : objects) {
                if (each.radius == radius) {
                    added.line(each.position, {});
                }
            }
        }
    }

    /// Lines behind the objects: from where they were so many frames ago.
    template <class Objects>
    void add_trails(std::string name, std::string colour, float width, float frames, const Objects& objects) {
        layer& added = add_layer(std::move(name), std::move(colour), width);
        for (const auto& each : objects) {
            added.line(each.position, each.velocity * -frames);
        }
    }

    template <class Objects>
    void add_arrowheads(std::string name, std::string colour, float radius, const Objects& objects) {
        layer& added = add_layer(std::move(name), std::move(colour), 0);
        for (const auto& each : objects) {
            added.arrowhead(each.position, with_length(each.velocity, radius));
        }
    }

    /// As an SVG file. It has no size of its own, so that it fills the window that it is shown in.
    std::string text() const {
        std::ostringstream out;
        write(out);
        return out.str();
    }

private:
    struct layer {
        // From there to `place + reach`.
        void line(vector2 place, vector2 reach) {
            add('M', place);
            add('l', reach);
            ++drawn;
        }

        // With its tip at `place + heading`.
        void arrowhead(vector2 place, vector2 heading) {
            const vector2 aside{-heading.y * 0.6F, heading.x * 0.6F};
            add('M', place + heading);
            add('L', place - heading + aside);
            add('L', place - heading * 0.5F);
            add('L', place - heading - aside);
            path += 'z';
            ++drawn;
        }

        void add(char command, vector2 to) {
            path += fmt::format("{}{:.0f} {:.0f}", command, to.x * scale, to.y * scale);
        }

        std::string name;
        std::string colour;
        float width = 0;
        float scale = 1;
        std::string path = {};
        std::size_t drawn = 0;
    };

    layer& add_layer(std::string name, std::string colour, float width) {
        return layers_.emplace_back(
            layer{std::move(name), std::move(colour), std::max(thinnest, width * scale_), scale_});
    }

    void write(std::ostream& out) const {
        // The inner one has the units of the drawing, the outer one those that viewers take for pixels.
        out << fmt::format(R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {} {}">)", size / 10,
                           (size + header) / 10)
            << fmt::format(R"(<svg viewBox="0 {} {} {}">)", -header, size, size + header)
            << fmt::format(R"(<rect y="{}" width="100%" height="100%" fill="#10172c"/>)", -header);
        write_legend(out);
        // What is outside of an inner svg element is not drawn.
        out << fmt::format(
                   R"(<svg width="{0}" height="{0}"><rect width="100%" height="100%" fill="#05070f"/>)", size)
            << "<g id=\"map\" stroke-linecap=\"round\">\n";
        for (const layer& each : layers_) {
            out << fmt::format(R"(<path fill="{0}" stroke="{0}" stroke-width="{1:.0f}" d=")", each.colour,
                               each.width)
                << each.path << "\"/>\n";
        }
        out << "</g></svg>\n";
        if (scale_ < legible_scale) {
            write_lens(out);
        }
        out << "</svg></svg>\n";
    }

    void write_legend(std::ostream& out) const {
        const float column = size / static_cast<float>(layers_.size() + 1);
        const auto text = [&](float left, float line, std::string_view colour, const auto& content) {
            out << fmt::format(R"(<text x="{}" y="{}" fill="{}">{}</text>)", left, line * 300 - header,
                               colour, content);
        };
        out << R"(<g font-family="sans-serif" font-size="180">)";
        text(250, 1.3F, "#ffffff", title_);
        text(250, 2.3F, "#9aa6c8", subtitle_);
        float left = column * 1.15F;
        for (const layer& each : layers_) {
            out << fmt::format(R"(<circle cx="{}" cy="{}" r="90" fill="{}"/>)", left - 170, 320 - header,
                               each.colour);
            text(left, 1.3F, "#dfe5f5", each.name);
            text(left, 2.3F, "#9aa6c8", each.drawn);
            left += column;
        }
        out << "</g>\n";
    }

    /// A part of the map, enlarged, in its corner.
    void write_lens(std::ostream& out) const {
        const float part = lens * scale_ / legible_scale;
        const float corner = size - lens - 150;
        out << fmt::format(
                   R"(<rect width="{0}" height="{0}" fill="none" stroke="#ffffff" stroke-width="12"/>)", part)
            << fmt::format(R"(<svg x="{0}" y="{0}" width="{1}" height="{1}" viewBox="0 0 {2} {2}">)", corner,
                           lens, part)
            << R"(<rect width="100%" height="100%" fill="#05070f"/><use href="#map"/></svg>)"
            << fmt::format(R"(<rect x="{0}" y="{0}" width="{1}" height="{1}" fill="none" stroke="#ffffff" )"
                           "stroke-width=\"24\"/>\n",
                           corner, lens);
    }

    // In units of the drawing; paths have whole ones.
    static constexpr float size = 12'000;
    static constexpr float header = 900;
    static constexpr float thinnest = 8;
    static constexpr float lens = 4'500;
    static constexpr float legible_scale = 12; // units of the drawing for one of the world

    float scale_;
    std::string title_;
    std::string subtitle_;
    std::deque<layer> layers_;
};

/// All objects of the last frame.
template <class World>
picture draw(const World& space) {
    picture map(space.side, "asteroids", fmt::format("frame {}", space.frames - 1));
    map.add_dots("debris", "#e0532f", 1.6F, space.dust);
    map.add_discs("rocks", "#96846a", space.rocks);
    map.add_trails("projectiles", "#ffe066", 1, 1.5F, space.projectiles);
    map.add_arrowheads("ships", "#3fd0ff", 4, space.ships);
    return map;
}

} // namespace asteroids

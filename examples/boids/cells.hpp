// SPDX-License-Identifier: MIT
#pragma once

#include "../require.hpp"
#include "bird.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace boids {

constexpr float sight = 10; // and the side of a cell

/// The square that boids live in, whose opposite edges are the same, divided into cells. It finds the
/// neighbours of a place among boids that are sorted by their cells.
class cells {
public:
    /// With room for so many.
    explicit cells(std::size_t boids)
        : columns_(std::max(3U, static_cast<std::uint32_t>(std::sqrt(static_cast<float>(boids) / 6)))) {}

    float side() const { return static_cast<float>(columns_) * sight; }

    std::uint32_t cell_of(vector2 place) const {
        return row_or_column(place.y) * columns_ + row_or_column(place.x);
    }

    /// The shortest way.
    vector2 way(vector2 from, vector2 to) const {
        const auto shorter = [half = side() / 2, all = side()](float x) {
            return x > half ? x - all : x < -half ? x + all : x;
        };
        return {shorter(to.x - from.x), shorter(to.y - from.y)};
    }

    /// Boids that are sorted by their cells. It refers to them, so it is good for one frame.
    void find(std::span<const boid> sorted) {
        examples::require(std::ranges::is_sorted(sorted, {}, &boid::cell), "the boids are out of order");
        boids_ = sorted;
        begins_.assign(std::size_t{columns_} * columns_ + 1, 0);
        for (const boid& each : sorted) {
            ++begins_[each.cell + 1];
        }
        std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
    }

    /// Calls `visit(boid, way there)` for all that can be seen from a place.
    template <class Visit>
    void look_around(vector2 place, const Visit& visit) const {
        for (const std::uint32_t y : {columns_ - 1, columns_, columns_ + 1}) {
            for (const std::uint32_t x : {columns_ - 1, columns_, columns_ + 1}) {
                const std::size_t cell = (row_or_column(place.y) + y) % columns_ * columns_ +
                                         (row_or_column(place.x) + x) % columns_;
                for (std::size_t i = begins_[cell]; i != begins_[cell + 1]; ++i) {
                    const vector2 there = way(place, boids_[i].position);
                    if (length(there) < sight) {
                        visit(boids_[i], there);
                    }
                }
            }
        }
    }

private:
    std::uint32_t row_or_column(float x) const {
        return std::min(static_cast<std::uint32_t>(x / sight), columns_ - 1);
    }

    std::uint32_t columns_;
    std::span<const boid> boids_;
    std::vector<std::uint32_t> begins_; // of each cell, and the end of the last
};

} // namespace boids

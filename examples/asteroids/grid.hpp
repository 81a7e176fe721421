// SPDX-License-Identifier: MIT
#pragma once

#include "geometry.hpp"

#include <handlepool/handle.hpp>
#include <handlepool/tbb/for_each.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

namespace asteroids {

/// Tells which objects of a pool are near a place: the square from 0 to `side` is divided into cells, and the
/// objects are sorted by their cells, by counting. It refers to objects, so it is good for one frame.
template <class T>
class grid {
public:
    /// The cells are a little larger than `cell`, so that they fill the square.
    grid(float side, float cell)
        : columns_(std::max<std::size_t>(1, static_cast<std::size_t>(side / cell))),
          cells_per_unit_(static_cast<float>(columns_) / side) {}

    /// All objects of the dense store, in parallel. The order within a cell is up to the threads.
    template <class Pool>
    void rebuild(Pool& pool) {
        starts_.assign(columns_ * columns_ + 1, 0);
        entries_.resize(pool.items().size());
        const auto counter = [this](const T& object) {
            return std::atomic_ref(
                starts_[row_or_column(object.position.y) * columns_ + row_or_column(object.position.x)]);
        };
        handlepool::for_each(
            pool, [&](const T& object) { counter(object).fetch_add(1, std::memory_order::relaxed); });
        // From the number of objects in a cell to the end of its entries, and from there down to their start.
        std::inclusive_scan(starts_.begin(), starts_.end(), starts_.begin());
        handlepool::for_each_with_handle(pool, [&](handlepool::handle<T> handle, const T& object) {
            entries_[counter(object).fetch_sub(1, std::memory_order::relaxed) - 1] = {
                handle, &object, object.position, object.radius};
        });
    }

    /// Calls `visit(handle, object)` for the objects that touch the circle of this radius; it and theirs
    /// together are not larger than a cell.
    template <class Visit>
    void visit_touching(vector2 place, float radius, const Visit& visit) const {
        visit_near(place, [&](const entry& each) {
            if (length(each.position - place) < each.radius + radius) {
                visit(each.handle, *each.object);
            }
        });
    }

    /// The nearest object, of two the one with the lower number; or null when none is nearer than a cell.
    /// Some are found from farther away.
    const T* find_nearest(vector2 place) const {
        const T* found = nullptr;
        float nearest = std::numeric_limits<float>::max();
        visit_near(place, [&](const entry& each) {
            const float distance = length(each.position - place);
            if (distance < nearest ||
                (distance == nearest && found != nullptr && each.object->number < found->number)) {
                nearest = distance;
                found = each.object;
            }
        });
        return found;
    }

private:
    struct entry {
        handlepool::handle<T> handle;
        const T* object = nullptr;
        // Copied, so that whoever looks around reads one array from front to back.
        vector2 position;
        float radius = 0;
    };

    // All objects that are not farther than a cell, and some others.
    template <class Visit>
    void visit_near(vector2 place, const Visit& visit) const {
        const std::size_t column = row_or_column(place.x);
        const std::size_t row = row_or_column(place.y);
        const std::size_t left = column - std::min<std::size_t>(column, 1);
        const std::size_t right = std::min(column + 1, columns_ - 1);
        const std::size_t last_row = std::min(row + 1, columns_ - 1);
        for (std::size_t each = row - std::min<std::size_t>(row, 1); each <= last_row; ++each) {
            // The cells of a row stand side by side.
            const std::size_t end = starts_[each * columns_ + right + 1];
            for (std::size_t i = starts_[each * columns_ + left]; i != end; ++i) {
                visit(entries_[i]);
            }
        }
    }

    std::size_t row_or_column(float coordinate) const {
        return std::min(static_cast<std::size_t>(std::max(0.0F, coordinate * cells_per_unit_)), columns_ - 1);
    }

    std::size_t columns_; // and as many rows
    float cells_per_unit_;
    std::vector<std::uint32_t> starts_; // of each cell's entries, row by row; behind them the end
    std::vector<entry> entries_;
};

} // namespace asteroids

// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace handlepool::stress {

// Of a series. An even number, so that points can be joined two by two.
inline constexpr std::size_t most_points = 1000;

template <class Point, class Join>
void halve(std::vector<Point>& points, Join join) {
    for (std::size_t i = 0; i < points.size() / 2; ++i) {
        points[i] = join(points[2 * i], points[2 * i + 1]);
    }
    points.resize(points.size() / 2);
}

// The longest of many durations, in order: a limited number of points, however many durations there are.
class longest_series {
public:
    struct point {
        std::uint64_t last; // number of the last duration that it stands for
        double longest;
    };

    void add(double duration) {
        if (count_ % stride_ == 0) {
            if (points_.size() == most_points) {
                halve(points_, [](const point& first, const point& second) {
                    return point{second.last, std::max(first.longest, second.longest)};
                });
                stride_ *= 2;
            }
            points_.push_back({count_, duration});
        }
        points_.back() = {count_, std::max(points_.back().longest, duration)};
        ++count_;
    }

    const std::vector<point>& points() const noexcept { return points_; }

private:
    std::vector<point> points_;
    std::uint64_t count_ = 0;
    std::uint64_t stride_ = 1;
};

// The course of a run: a limited number of its moments.
class time_series {
public:
    struct point {
        double seconds;
        std::uint64_t operations; // so far
        std::uint64_t alive;
    };

    void add(const point& now) {
        if (!points_.empty() && now.seconds < points_.back().seconds + interval_) {
            return;
        }
        if (points_.size() == most_points) {
            halve(points_, [](const point&, const point& second) { return second; });
            interval_ *= 2;
        }
        points_.push_back(now);
    }

    const std::vector<point>& points() const noexcept { return points_; }

private:
    std::vector<point> points_;
    double interval_ = 0.001; // the fewest seconds from one point to the next
};

} // namespace handlepool::stress

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace handlepool::stress {

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
                thin_out();
            }
            points_.push_back({count_, duration});
        }
        points_.back() = {count_, std::max(points_.back().longest, duration)};
        ++count_;
    }

    const std::vector<point>& points() const noexcept { return points_; }

private:
    static constexpr std::size_t most_points = 1000;
    static_assert(most_points % 2 == 0);

    void thin_out() {
        for (std::size_t i = 0; i < points_.size() / 2; ++i) {
            const point& first = points_[2 * i];
            const point& second = points_[2 * i + 1];
            points_[i] = {second.last, std::max(first.longest, second.longest)};
        }
        points_.resize(points_.size() / 2);
        stride_ *= 2;
    }

    std::vector<point> points_;
    std::uint64_t count_ = 0;
    std::uint64_t stride_ = 1;
};

// The course of a run: a limited number of its moments.
class timeline {
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
            for (std::size_t i = 0; i < points_.size() / 2; ++i) {
                points_[i] = points_[2 * i + 1];
            }
            points_.resize(points_.size() / 2);
            interval_ *= 2;
        }
        points_.push_back(now);
    }

    const std::vector<point>& points() const noexcept { return points_; }

private:
    static constexpr std::size_t most_points = 1000;

    std::vector<point> points_;
    double interval_ = 0.001; // the fewest seconds from one point to the next
};

} // namespace handlepool::stress

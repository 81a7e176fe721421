// SPDX-License-Identifier: MIT
#pragma once

#include "results/result.hpp"

#include <cstddef>
#include <vector>

namespace handlepool::stress::page {

// What was measured from one place on the x axis to another.
struct column {
    double from;
    double to;
    double low;
    double mean; // weighted by the widths of what was joined
    double high;
};

// A chart on a phone has about as many pixels to spare; more columns would only make the page heavy.
inline constexpr std::size_t most_columns = 150;

// Joins neighbours until there are `most` at most.
std::vector<column> joined(const std::vector<column>& columns, std::size_t most = most_columns);

// Operations a second between the points of a timeline.
std::vector<column> throughput(const timeline_points& line);

// Objects alive.
std::vector<column> alive(const timeline_points& line);

// Microseconds; a frame reaches to the next one.
std::vector<column> compaction_by_frame(const compaction_points& series);

} // namespace handlepool::stress::page

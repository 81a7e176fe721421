// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

namespace handlepool::stress::page {

struct tick {
    double value;
    std::string label;
};

using formatter = std::string (*)(double);

// One axis of a chart: its range, the places with a label, and what it shows.
struct axis {
    std::string title;
    formatter label = nullptr; // of any value on it
    double low = 0;
    double high = 1; // above low
    bool logarithmic = false;
    std::vector<tick> ticks{};

    // Where a value stands: 0 at low, 1 at high; what lies outside stands at the edge.
    double part(double value) const;
};

// From 0 to `high`, or to the next tick above it if `whole_steps`. Ticks are 1, 2 or 5 times a power of ten
// apart, and `smallest_step` at least: there is no half frame.
axis linear_axis(std::string title, double high, formatter label, bool whole_steps, double smallest_step = 0);

// Around `low` to `high`, which are above 0. Ticks are powers of ten, or finer ones in a narrow range.
axis logarithmic_axis(std::string title, double low, double high, formatter label);

// The percentiles of `count` values, each nine as wide as the one before: 50, 90, 99, 99.9, ...
axis percentile_axis(std::string title, double count);

// The place on it of the value that `above` of `count` values exceed.
double nines(double above, double count);

} // namespace handlepool::stress::page

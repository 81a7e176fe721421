// SPDX-License-Identifier: MIT
#include "axis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace handlepool::stress::page {

namespace {

// The greatest of 1, 2, 5, 10, ... that is not above `value`, and the smallest that is not below it. What is
// off by a rounding error is taken as equal.
double nice_below(double value) {
    const double power = std::pow(10.0, std::floor(std::log10(value) + 1e-9));
    const double leading = value / power * (1 + 1e-9);
    return (leading >= 5 ? 5 : leading >= 2 ? 2 : 1) * power;
}

double nice_above(double value) {
    const double power = std::pow(10.0, std::ceil(std::log10(value) - 1e-9));
    const double leading = value / power * (1 - 1e-9);
    return power / (leading <= 0.2 ? 5 : leading <= 0.5 ? 2 : 1);
}

} // namespace

double axis::part(double value) const {
    const double bounded = std::clamp(value, low, high);
    return logarithmic ? std::log(bounded / low) / std::log(high / low) : (bounded - low) / (high - low);
}

axis linear_axis(std::string title, double high, formatter label, bool whole_steps, double smallest_step) {
    constexpr double most_steps = 6;
    axis result{.title = std::move(title), .label = label, .high = high > 0 ? high : 1};
    const double step = std::max(nice_above(result.high / most_steps), smallest_step);
    if (whole_steps) {
        result.high = std::ceil(result.high / step * (1 - 1e-9)) * step;
    }
    for (int i = 0; i * step <= result.high * (1 + 1e-9); ++i) {
        result.ticks.push_back({i * step, i == 0 ? "0" : label(i * step)});
    }
    return result;
}

axis logarithmic_axis(std::string title, double low, double high, formatter label) {
    axis result{.title = std::move(title),
                .label = label,
                .low = nice_below(low),
                .high = nice_above(std::max(low, high)),
                .logarithmic = true};
    if (result.high < 4 * result.low) {
        result.low = nice_below(result.low / 1.5);
        result.high = nice_above(result.high * 1.5);
    }
    const bool fine = result.high < 100 * result.low;
    const int first = static_cast<int>(std::floor(std::log10(result.low) + 1e-9));
    const int last = static_cast<int>(std::floor(std::log10(result.high) + 1e-9));
    const int stride = last - first > 8 ? 2 : 1;
    for (int exponent = first; exponent <= last; exponent += stride) {
        for (const double factor : {1.0, 2.0, 5.0}) {
            const double value = factor * std::pow(10.0, exponent);
            const bool inside = value >= result.low * (1 - 1e-9) && value <= result.high * (1 + 1e-9);
            if (inside && (fine || factor == 1.0)) {
                result.ticks.push_back({value, label(value)});
            }
        }
    }
    return result;
}

axis percentile_axis(std::string title, double count) {
    axis result{.title = std::move(title), .high = std::max(1.0, std::log10(count))};
    result.ticks = {{std::log10(2.0), "50"}, {1, "90"}};
    for (int decade = 2; decade <= result.high + 1e-9; ++decade) {
        const std::string after_point(static_cast<std::size_t>(decade - 2), '9');
        result.ticks.push_back(
            {static_cast<double>(decade), after_point.empty() ? "99" : fmt::format("99.{}", after_point)});
    }
    return result;
}

double nines(double above, double count) {
    return std::log10(count / std::max(above, 1.0));
}

} // namespace handlepool::stress::page

// SPDX-License-Identifier: MIT
#include "columns.hpp"

#include <algorithm>
#include <utility>

namespace handlepool::stress::page {

namespace {

// A rate over less would say more about the clock.
constexpr double shortest_time = 1e-9;

// A column up to each moment of `seconds`; `value(i, length)` is what the i-th of them has. Points at the
// same time count for the next one that is later.
template <class Value>
std::vector<column> columns_up_to(const std::vector<double>& seconds, std::size_t count, Value value) {
    std::vector<column> result;
    double time = 0;
    for (std::size_t i = 0; i < count; ++i) {
        if (seconds[i] > time + shortest_time) {
            const double shown = value(i, seconds[i] - time);
            result.push_back({time, seconds[i], shown, shown, shown});
            time = seconds[i];
        }
    }
    return result;
}

} // namespace

std::vector<column> joined(const std::vector<column>& columns, std::size_t most) {
    const std::size_t together = (columns.size() + most - 1) / most;
    if (together <= 1) {
        return columns;
    }
    std::vector<column> result;
    for (std::size_t first = 0; first < columns.size(); first += together) {
        column sum = columns[first];
        double area = 0;
        for (std::size_t i = first; i < std::min(first + together, columns.size()); ++i) {
            const column& each = columns[i];
            sum.low = std::min(sum.low, each.low);
            sum.high = std::max(sum.high, each.high);
            sum.to = each.to;
            area += each.mean * (each.to - each.from);
        }
        sum.mean = area / (sum.to - sum.from);
        result.push_back(sum);
    }
    return result;
}

std::vector<column> throughput(const timeline_points& line) {
    double total = 0;
    return columns_up_to(line.seconds, line.operations.size(), [&](std::size_t i, double length) {
        const double before = std::exchange(total, static_cast<double>(line.operations[i]));
        return (total - before) / length;
    });
}

std::vector<column> alive(const timeline_points& line) {
    return columns_up_to(line.seconds, line.alive.size(),
                         [&](std::size_t i, double) { return static_cast<double>(line.alive[i]); });
}

std::vector<column> compaction_by_frame(const compaction_points& series) {
    std::vector<column> result;
    double next = 0;
    for (std::size_t i = 0; i < series.frame.size(); ++i) {
        const double end = static_cast<double>(series.frame[i]) + 1;
        if (end > next) { // in a double, large numbers are less apart than they were
            const double time = series.microseconds[i];
            result.push_back({next, end, time, time, time});
            next = end;
        }
    }
    return result;
}

} // namespace handlepool::stress::page

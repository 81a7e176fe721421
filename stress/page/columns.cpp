#include "columns.hpp"

#include <algorithm>

namespace handlepool::stress::page {

namespace {

// A rate over less would say more about the clock.
constexpr double shortest_time = 1e-9;

column plain_column(double from, double to, double value) {
    return {from, to, value, value, value};
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
    std::vector<column> result;
    double time = 0;
    double total = 0;
    for (std::size_t i = 0; i < line.operations.size(); ++i) {
        // Points at the same time count for the next one that is later.
        if (line.seconds[i] > time + shortest_time) {
            const auto operations = static_cast<double>(line.operations[i]);
            result.push_back(
                plain_column(time, line.seconds[i], (operations - total) / (line.seconds[i] - time)));
            time = line.seconds[i];
            total = operations;
        }
    }
    return result;
}

std::vector<column> alive(const timeline_points& line) {
    std::vector<column> result;
    double time = 0;
    for (std::size_t i = 0; i < line.alive.size(); ++i) {
        if (line.seconds[i] > time + shortest_time) {
            result.push_back(plain_column(time, line.seconds[i], static_cast<double>(line.alive[i])));
            time = line.seconds[i];
        }
    }
    return result;
}

std::vector<column> compaction_by_frame(const compaction_points& series) {
    std::vector<column> result;
    double next = 0;
    for (std::size_t i = 0; i < series.frame.size(); ++i) {
        const double end = static_cast<double>(series.frame[i]) + 1;
        if (end > next) { // in a double, large numbers are less apart than they were
            result.push_back(plain_column(next, end, series.microseconds[i]));
            next = end;
        }
    }
    return result;
}

} // namespace handlepool::stress::page

#include "columns.hpp"

#include <algorithm>

namespace handlepool::stress::page {

namespace {

// A rate over less would say more about the clock.
constexpr double shortest_time = 1e-9;

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

std::vector<column> throughput(const timeline& line) {
    std::vector<column> result;
    double time = 0;
    double total = 0;
    for (std::size_t i = 0; i < line.operations.size(); ++i) {
        // Points at the same time count for the next one that is later.
        if (line.seconds[i] > time + shortest_time) {
            const auto operations = static_cast<double>(line.operations[i]);
            const double rate = (operations - total) / (line.seconds[i] - time);
            result.push_back({time, line.seconds[i], rate, rate, rate});
            time = line.seconds[i];
            total = operations;
        }
    }
    return result;
}

std::vector<column> alive(const timeline& line) {
    std::vector<column> result;
    double time = 0;
    for (std::size_t i = 0; i < line.alive.size(); ++i) {
        if (line.seconds[i] > time + shortest_time) {
            const auto objects = static_cast<double>(line.alive[i]);
            result.push_back({time, line.seconds[i], objects, objects, objects});
            time = line.seconds[i];
        }
    }
    return result;
}

std::vector<column> compaction_by_frame(const compaction_series& series) {
    std::vector<column> result;
    double next = 0;
    for (std::size_t i = 0; i < series.frames.size(); ++i) {
        const double end = series.frames[i] + 1;
        if (end > next) { // in a double, large numbers are less apart than they were
            const double time = series.microseconds[i];
            result.push_back({next, end, time, time, time});
            next = end;
        }
    }
    return result;
}

} // namespace handlepool::stress::page

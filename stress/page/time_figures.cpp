// Charts over time and frames.

#include "chart.hpp"
#include "columns.hpp"
#include "figure.hpp"
#include "figures.hpp"
#include "numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace handlepool::stress::page {

namespace {

struct range {
    double low;
    double high;
};

range range_of(const std::vector<column>& columns) {
    range all{columns.front().low, columns.front().high};
    for (const column& each : columns) {
        all = {std::min(all.low, each.low), std::max(all.high, each.high)};
    }
    return all;
}

axis time_axis(const std::vector<column>& columns) {
    return linear_axis("time since the start", columns.back().to, seconds_text, false);
}

// What a reader must know of a chart with fewer columns than points.
std::string joined_note(const std::vector<column>& points, const std::vector<column>& shown) {
    if (points.size() == shown.size()) {
        return {};
    }
    return fmt::format("<p class=\"note\">Line: the mean of {} points each; band: the lowest and the highest "
                       "of them.</p>\n",
                       (points.size() + most_columns - 1) / most_columns);
}

} // namespace

std::string throughput_figure(const result& shown, std::string_view id) {
    const std::vector<column> points = throughput(shown.over_time);
    if (points.empty()) {
        return {};
    }
    const std::vector<column> columns = joined(points);
    const auto [low, high] = range_of(columns);
    const double mean = joined(points, 1).front().mean;
    chart drawing(time_axis(columns), linear_axis("operations a second", high, short_number, true),
                  {{mean, "mean"}});
    drawing.area(columns, "throughput");
    drawing.band(columns, "throughput");
    drawing.steps(columns, "throughput");
    const std::string finding = fmt::format("{} operations a second, between {} and {}", short_number(mean),
                                            short_number(low), short_number(high));
    return to_html({.name = "throughput",
                    .title = "Throughput",
                    .finding = finding,
                    .svg = drawing.svg(fmt::format("{}-throughput", id),
                                       fmt::format("Throughput over time: {}", shown.name), finding),
                    .below = joined_note(points, columns)});
}

std::string alive_figure(const result& shown, std::string_view id) {
    const std::vector<column> points = alive(shown.over_time);
    if (points.empty()) {
        return {};
    }
    const std::vector<column> columns = joined(points);
    const auto [low, high] = range_of(columns);
    chart drawing(time_axis(columns), linear_axis("objects", high, short_number, true, 1));
    drawing.area(columns, "alive");
    drawing.band(columns, "alive");
    drawing.steps(columns, "alive");
    const std::string finding = fmt::format("{} to {} objects", grouped(low), grouped(high));
    return to_html({.name = "alive",
                    .title = "Alive objects",
                    .finding = finding,
                    .svg = drawing.svg(fmt::format("{}-alive", id),
                                       fmt::format("Alive objects over time: {}", shown.name), finding),
                    .below = joined_note(points, columns)});
}

std::string compaction_figure(const result& shown, std::string_view id) {
    std::vector<column> points = compaction_by_frame(shown.compaction_by_frame);
    if (points.empty()) {
        return {};
    }
    // The longest ones matter, and they are what the points are.
    std::vector<column> columns = joined(points);
    constexpr double floor = 0.001; // a nanosecond: the axis has no zero
    for (column& each : columns) {
        each.mean = std::max(each.high, floor);
    }
    auto [low, high] = range_of(columns);
    std::string finding = fmt::format("{} at the most", microseconds_text(high));
    std::vector<tick> marks;
    if (shown.compaction) {
        const auto [median, p99, worst] = *shown.compaction;
        finding += fmt::format("; median {}, 99 % {}", microseconds_text(median), microseconds_text(p99));
        marks = {{std::max(median, floor), "median"}, {std::max(p99, floor), "99 %"}};
        low = std::min(low, median); // of all frames: it may lie below the longest ones
        high = std::max(high, p99);
    }
    chart drawing(linear_axis("frame", columns.back().to, short_number, false, 1),
                  logarithmic_axis("longest compaction", std::max(low, floor), std::max(high, floor),
                                   microseconds_text),
                  std::move(marks));
    drawing.area(columns, "compaction");
    drawing.steps(columns, "compaction");
    std::string note;
    const double frames_each = columns.back().to / static_cast<double>(columns.size());
    if (frames_each >= 1.5) {
        note =
            fmt::format("<p class=\"note\">The longest of about {} frames each.</p>\n", grouped(frames_each));
    }
    return to_html({.name = "compaction",
                    .title = "Compaction by frame",
                    .finding = finding,
                    .svg = drawing.svg(fmt::format("{}-compaction", id),
                                       fmt::format("Compaction time by frame: {}", shown.name), finding),
                    .below = note});
}

} // namespace handlepool::stress::page

// SPDX-License-Identifier: MIT

// Charts over time and frames.

#include "chart.hpp"
#include "columns.hpp"
#include "parts.hpp"
#include "results/numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace handlepool::stress::page {

namespace {

std::string time_figure(const std::vector<column>& points, axis y, std::vector<tick> marks, caption said,
                        const result& shown, std::string_view id) {
    const std::vector<column> columns = joined(points);
    chart drawing(linear_axis("time since the start", columns.back().to, seconds_text, false), std::move(y),
                  std::move(marks));
    drawing.columns(columns, said.name);
    if (columns.size() < points.size()) {
        said.below =
            fmt::format("<p class=\"note\">Line: the mean of {} points each; band: the lowest and the "
                        "highest of them.</p>\n",
                        (points.size() + most_columns - 1) / most_columns);
    }
    return drawing.html(said, id, shown.title());
}

} // namespace

std::string throughput_figure(const result& shown, std::string_view id) {
    const std::vector<column> points = throughput(shown.timeline.value_or(timeline_points()));
    if (points.empty()) {
        return {};
    }
    const column all = joined(points, 1).front();
    return time_figure(
        points, linear_axis("operations a second", all.high, short_number, true), {{all.mean, "mean"}},
        {.name = "throughput",
         .title = "Throughput",
         .finding = fmt::format("{} operations a second, between {} and {}", short_number(all.mean),
                                short_number(all.low), short_number(all.high))},
        shown, id);
}

std::string alive_figure(const result& shown, std::string_view id) {
    const std::vector<column> points = alive(shown.timeline.value_or(timeline_points()));
    if (points.empty()) {
        return {};
    }
    const column all = joined(points, 1).front();
    return time_figure(
        points, linear_axis("objects", all.high, short_number, true, 1), {},
        {.name = "alive",
         .title = "Alive objects",
         .finding = fmt::format("{} to {} objects", grouped_rounded(all.low), grouped_rounded(all.high))},
        shown, id);
}

std::string compaction_figure(const result& shown, std::string_view id) {
    std::vector<column> columns =
        joined(compaction_by_frame(shown.compaction_by_frame.value_or(compaction_points())));
    if (columns.empty()) {
        return {};
    }
    constexpr double floor = 0.001; // a nanosecond: the axis has no zero
    caption said{.name = "compaction",
                 .title = "Compaction by frame",
                 .finding =
                     fmt::format("{} at the most", microseconds_text(joined(columns, 1).front().high))};
    for (column& each : columns) {
        each.low = each.mean = each.high = std::max(each.high, floor); // the longest ones matter
    }
    column all = joined(columns, 1).front();
    std::vector<tick> marks;
    if (shown.compaction_microseconds) {
        const auto [median, p99, worst] = *shown.compaction_microseconds;
        said.finding +=
            fmt::format("; median {}, 99 % {}", microseconds_text(median), microseconds_text(p99));
        marks = {{std::max(median, floor), "median"}, {std::max(p99, floor), "99 %"}};
        all.low = std::min(all.low, marks.front().value); // of all frames: it may lie below the longest ones
        all.high = std::max(all.high, marks.back().value);
    }
    chart drawing(linear_axis("frame", columns.back().to, short_number, false, 1),
                  logarithmic_axis("longest compaction", all.low, all.high, microseconds_text),
                  std::move(marks));
    drawing.columns(columns, said.name);
    const double frames_each = columns.back().to / static_cast<double>(columns.size());
    if (frames_each >= 1.5) {
        said.below = fmt::format("<p class=\"note\">The longest of about {} frames each.</p>\n",
                                 grouped_rounded(frames_each));
    }
    return drawing.html(said, id, shown.title());
}

} // namespace handlepool::stress::page

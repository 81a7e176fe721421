// SPDX-License-Identifier: MIT

// Charts of distributions.

#include "chart.hpp"
#include "html.hpp"
#include "oracle/event.hpp"
#include "parts.hpp"
#include "results/numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace handlepool::stress::page {

namespace {

double total(const bucket_counts& counted) {
    return std::accumulate(counted.counts.begin(), counted.counts.end(), 0.0,
                           [](double sum, std::uint64_t count) { return sum + static_cast<double>(count); });
}

// ---- Latencies

// The style of an operation, the same in each chart.
std::string_view style_of(std::string_view operation) {
    const auto* const found = std::ranges::find(operation_names, operation);
    return found == operation_names.end() ? "other" : *found;
}

// By percentile, in steps: what the fastest so many operations took at the most.
std::vector<point> percentile_curve(const latency_figures& shown) {
    constexpr double shortest = 1; // the axis has no zero
    const double count = total(shown);
    std::vector<point> curve;
    double above = count;
    for (std::size_t i = 0; i < shown.counts.size(); ++i) {
        if (shown.counts[i] != 0) {
            const double most =
                std::max(std::min(shown.upper[i], shown.worst.value_or(shown.upper[i])), shortest);
            curve.push_back({nines(above, count), most});
            above -= static_cast<double>(shown.counts[i]);
            curve.push_back({nines(above, count), most});
        }
    }
    if (count == 1) {
        curve.back().x = std::log10(2.0); // a line, not a point
    }
    return curve;
}

// A row of what is legend and figures in one; the box hides the operation's curve.
std::string latency_row(std::string_view operation, const latency_figures& shown) {
    return fmt::format("<tr><th scope=\"row\"><label><input type=\"checkbox\" class=\"unseen\" value=\"{0}\" "
                       "checked><svg class=\"key\" viewBox=\"0 0 24 8\" aria-hidden=\"true\">"
                       "<path class=\"line {0}\" d=\"M0 4H24\"/></svg>{1}</label></th>{2}{3}{4}{5}</tr>\n",
                       style_of(operation), escaped(operation), cell(shown.median, nanoseconds_text),
                       cell(shown.p99, nanoseconds_text), cell(shown.p999, nanoseconds_text),
                       cell(shown.worst, nanoseconds_text));
}

} // namespace

std::string latency_figure(const result& shown, std::string_view id) {
    struct curve {
        std::string_view style;
        std::vector<point> points;
    };
    std::vector<curve> curves;
    double most = 0;
    double low = std::numeric_limits<double>::max();
    double high = 0;
    std::string description;
    std::string rows;
    for (const auto& [operation, figures] : shown.latencies_nanoseconds) {
        if (const double count = total(figures); count > 0) {
            const std::vector<point>& points =
                curves.emplace_back(curve{style_of(operation), percentile_curve(figures)}).points;
            most = std::max(most, count);
            low = std::min(low, points.front().y);
            high = std::max(high, points.back().y);
            description += fmt::format("{}{} {}", description.empty() ? "At the most: " : ", ", operation,
                                       nanoseconds_text(figures.worst.value_or(points.back().y)));
            rows += latency_row(operation, figures);
        }
    }
    if (curves.empty()) {
        return {};
    }
    chart drawing(percentile_axis("percentile", most),
                  logarithmic_axis("time of one operation", low, high, nanoseconds_text));
    for (const curve& each : curves) {
        drawing.line(each.points, each.style);
    }
    return drawing.html(
        {.name = "latency",
         .title = "Latency by percentile",
         .finding = "at 99.9, one operation in 1,000 took longer",
         .description = description,
         .below = fmt::format(
             "<div class=\"wide\"><table class=\"latencies\">\n<thead><tr><th scope=\"col\">"
             "<span class=\"unseen\">operation</span></th><th scope=\"col\">median</th>"
             "<th scope=\"col\">99 %</th><th scope=\"col\">99.9 %</th><th scope=\"col\">worst</th>"
             "</tr></thead>\n<tbody>\n{}</tbody></table></div>\n",
             rows)},
        id, shown.title());
}

// ---- Reuse distances

namespace {

struct bin {
    double from;
    double to;
    double count;
};

// The buckets, which are narrow, in bins of one ratio; those without a value are left out.
std::vector<bin> bins_of(const bucket_counts& counted) {
    if (counted.upper.empty()) {
        return {};
    }
    constexpr double shortest = 1; // the axis has no zero
    const double octaves =
        std::log2(std::max(counted.upper.back(), 2.0) / std::max(counted.upper.front(), 1.0));
    const double in_octave = octaves <= 12 ? 4 : octaves <= 24 ? 2 : 1;
    std::vector<bin> bins;
    for (std::size_t i = 0; i < counted.counts.size(); ++i) {
        if (counted.counts[i] != 0) {
            const double place = std::log2(std::max(counted.upper[i], shortest)) * in_octave;
            const double first = std::floor(place + 1e-9);
            const double from = std::exp2(first / in_octave);
            if (bins.empty() || bins.back().from < from) {
                bins.push_back({from, std::exp2((first + 1) / in_octave), 0});
            }
            bins.back().count += static_cast<double>(counted.counts[i]);
        }
    }
    return bins;
}

} // namespace

std::string reuse_figure(const result& shown, std::string_view id) {
    const bucket_counts distances = shown.reuse_distances.value_or(bucket_counts());
    const std::vector<bin> bins = bins_of(distances);
    if (bins.empty()) {
        return {};
    }
    double low = bins.front().from;
    double high = bins.back().to;
    double most = 0;
    for (const bin& each : bins) {
        most = std::max(most, each.count);
    }
    const double delay = std::max(static_cast<double>(shown.reuse_delay.value_or(0)), 1.0);
    if (shown.reuse_delay) {
        low = std::min(low, delay);
        high = std::max(high, delay);
    }
    constexpr double below_one = 0.5; // so that a bin with one has a bar
    axis counts = logarithmic_axis("uses of a slot", below_one, most, short_number);
    std::erase_if(counts.ticks, [](const tick& each) { return each.value < 1; });
    chart drawing(logarithmic_axis("other slots freed since it was freed", low, high, short_number),
                  std::move(counts));
    for (const bin& each : bins) {
        drawing.bar(each.from, each.to, each.count, "reuse");
    }
    std::string finding;
    if (shown.smallest_reuse_distance) {
        finding = fmt::format("{} at the least", grouped(*shown.smallest_reuse_distance));
    }
    if (shown.reuse_delay) {
        drawing.mark_x(delay, fmt::format("delay {}", grouped(*shown.reuse_delay)));
        finding += fmt::format("{}a delay of {} was asked for", finding.empty() ? "" : ", ",
                               grouped(*shown.reuse_delay));
    }
    if (finding.empty()) {
        finding = fmt::format("{} uses", short_number(total(distances)));
    }
    return drawing.html({.name = "reuse", .title = "Reuse distances", .finding = finding}, id, shown.title());
}

} // namespace handlepool::stress::page

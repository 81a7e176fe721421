// Charts of distributions.

#include "chart.hpp"
#include "figure.hpp"
#include "figures.hpp"
#include "html.hpp"
#include "numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

namespace handlepool::stress::page {

namespace {

double total(const histogram& counted) {
    return std::accumulate(counted.counts.begin(), counted.counts.end(), 0.0,
                           [](double sum, std::uint64_t count) { return sum + static_cast<double>(count); });
}

// ---- Latencies
// ----------------------------------------------------------------------------------------------

// The style of an operation, the same in each chart.
std::string_view style_of(std::string_view operation) {
    constexpr std::array<std::string_view, 5> known{"emplace", "erase", "find", "contains", "compact"};
    const auto* const found = std::find(known.begin(), known.end(), operation);
    return found == known.end() ? "other" : *found;
}

// By percentile, in steps: what the fastest so many operations took at the most.
std::vector<point> percentile_curve(const latency& shown) {
    constexpr double shortest = 1; // the axis has no zero
    const histogram& counted = shown.distribution;
    const double count = total(counted);
    std::vector<point> curve;
    double above = count;
    for (std::size_t i = 0; i < counted.counts.size(); ++i) {
        if (counted.counts[i] != 0) {
            const double most =
                std::max(std::min(counted.upper[i], shown.worst.value_or(counted.upper[i])), shortest);
            curve.push_back({nines(above, count), most});
            above -= static_cast<double>(counted.counts[i]);
            curve.push_back({nines(above, count), most});
        }
    }
    if (count == 1) {
        curve.back().x = std::log10(2.0); // a line, not a point
    }
    return curve;
}

std::string cell(const std::optional<double>& nanoseconds) {
    return fmt::format("<td>{}</td>", nanoseconds ? nanoseconds_text(*nanoseconds) : "–");
}

// Legend and figures in one.
std::string latency_table(const std::vector<latency>& latencies) {
    std::string rows;
    for (const latency& each : latencies) {
        rows +=
            fmt::format("<tr><th scope=\"row\"><svg class=\"key\" viewBox=\"0 0 24 8\" aria-hidden=\"true\">"
                        "<path class=\"line {}\" d=\"M0 4H24\"/></svg>{}</th>{}{}{}{}</tr>\n",
                        style_of(each.operation), escaped(each.operation), cell(each.median), cell(each.p99),
                        cell(each.p999), cell(each.worst));
    }
    return fmt::format("<div class=\"wide\"><table class=\"latencies\">\n<thead><tr><th scope=\"col\">"
                       "<span class=\"unseen\">operation</span></th><th scope=\"col\">median</th>"
                       "<th scope=\"col\">99 %</th><th scope=\"col\">99.9 %</th><th scope=\"col\">worst</th>"
                       "</tr></thead>\n<tbody>\n{}</tbody></table></div>\n",
                       rows);
}

} // namespace

std::string latency_figure(const result& shown, std::string_view id) {
    std::vector<latency> latencies;
    double most = 0;
    double low = 0;
    double high = 0;
    for (const latency& each : shown.latencies) {
        const double count = total(each.distribution);
        if (count > 0) {
            const std::vector<point> curve = percentile_curve(each);
            low = latencies.empty() ? curve.front().y : std::min(low, curve.front().y);
            high = std::max(high, curve.back().y);
            most = std::max(most, count);
            latencies.push_back(each);
        }
    }
    if (latencies.empty()) {
        return {};
    }
    chart drawing(percentile_axis("percentile", most),
                  logarithmic_axis("time of one operation", low, high, nanoseconds_text));
    std::string finding;
    for (const latency& each : latencies) {
        const std::vector<point> curve = percentile_curve(each);
        drawing.line(curve, style_of(each.operation));
        finding += fmt::format("{}{} {}", finding.empty() ? "At the most: " : ", ", each.operation,
                               nanoseconds_text(each.worst.value_or(curve.back().y)));
    }
    return to_html({.name = "latency",
                    .title = "Latency by percentile",
                    .finding = "at 99.9, one operation in 1,000 took longer",
                    .svg = drawing.svg(fmt::format("{}-latency", id),
                                       fmt::format("Latency distributions: {}", shown.name), finding),
                    .below = latency_table(latencies)});
}

// ---- Reuse distances
// ----------------------------------------------------------------------------------------

namespace {

struct bin {
    double from;
    double to;
    double count;
};

// The buckets, which are narrow, in bins of one ratio; those without a value are left out.
std::vector<bin> bins_of(const histogram& counted) {
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
    const std::vector<bin> bins =
        shown.reuse_distances.upper.empty() ? std::vector<bin>() : bins_of(shown.reuse_distances);
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
        finding = fmt::format("{} uses", short_number(total(shown.reuse_distances)));
    }
    return to_html({.name = "reuse",
                    .title = "Reuse distances",
                    .finding = finding,
                    .svg = drawing.svg(fmt::format("{}-reuse", id),
                                       fmt::format("Reuse distances of slots: {}", shown.name), finding)});
}

} // namespace handlepool::stress::page

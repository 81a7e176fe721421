// SPDX-License-Identifier: MIT
#include "chart.hpp"

#include "html.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace handlepool::stress::page {

namespace {

// In units of the drawing, which are about pixels on a phone.
constexpr double width = 360;
constexpr double height = 224;
constexpr double top = 34;              // room for the title of the y axis, and the label of a mark
constexpr double bottom = 184;          // room for the labels and the title of the x axis
constexpr double edge = 350;            // half of the last label on the x axis may pass it
constexpr double character_width = 7.7; // of wide digits, in the size that the style sheet gives them
constexpr double line_height = 15;

double text_width(std::string_view text) {
    const auto is_first_byte = [](char byte) { return (static_cast<unsigned char>(byte) & 0xc0) != 0x80; };
    return character_width * static_cast<double>(std::count_if(text.begin(), text.end(), is_first_byte));
}

double widest_label(const std::vector<tick>& labels) {
    double widest = 0;
    for (const tick& each : labels) {
        widest = std::max(widest, text_width(each.label));
    }
    return widest;
}

std::string value_text(const axis& on, double value) {
    return value == 0 ? "0" : on.label(value);
}

// What a column or a bar says of itself.
std::string tip(const axis& x, double from, double to, const axis& y, double value) {
    return fmt::format("<title>{} to {}: {}</title>", escaped(value_text(x, from)),
                       escaped(value_text(x, to)), escaped(value_text(y, value)));
}

// A straight line from there, H(orizontally) or V(ertically).
std::string straight_line(std::string_view style, double x, double y, char direction, double to) {
    return fmt::format("<path class=\"{}\" d=\"M{:.1f} {:.1f}{}{:.1f}\"/>", style, x, y, direction, to);
}

std::string tick_label(double x, double y, std::string_view anchor, std::string_view label) {
    return fmt::format("<text class=\"tick\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>", x, y,
                       anchor, escaped(label));
}

} // namespace

chart::chart(axis x, axis y, std::vector<tick> marks)
    : x_(std::move(x)),
      y_(std::move(y)),
      marks_(std::move(marks)),
      left_(10 + widest_label(y_.ticks)),
      right_(marks_.empty() ? edge : width - 8 - widest_label(marks_)) {
    std::sort(marks_.begin(), marks_.end(),
              [](const tick& left, const tick& right) { return left.value > right.value; });
}

double chart::x_of(double value) const {
    return left_ + x_.part(value) * (right_ - left_);
}
double chart::y_of(double value) const {
    return bottom - y_.part(value) * (bottom - top);
}

// ---- What is drawn

void chart::columns(const std::vector<column>& shown, std::string_view style) {
    std::string mean;
    std::string high;
    std::string low; // backwards
    for (const column& each : shown) {
        const double begin = x_of(each.from);
        const double end = x_of(each.to);
        mean += fmt::format("V{:.1f}H{:.1f}", y_of(each.mean), end);
        high += fmt::format("V{:.1f}H{:.1f}", y_of(each.high), end);
        low = fmt::format("V{:.1f}H{:.1f}{}", y_of(each.low), begin, low);
        tips_ += fmt::format("<path class=\"tip\" d=\"M{:.1f} {}V{}H{:.1f}V{}Z\">{}</path>", begin, top,
                             bottom, end, top, tip(x_, each.from, each.to, y_, each.mean));
    }
    const auto draw = [&](std::string_view kind, double y, const std::string& path) {
        drawn_ += fmt::format("<path class=\"{} {}\" d=\"M{:.1f} {:.1f}{}\"/>", kind, style,
                              x_of(shown.front().from), y, path);
    };
    draw("area", bottom, fmt::format("{}V{:.1f}Z", mean, bottom));
    draw("band", y_of(shown.front().high), high + low + 'Z');
    draw("line", y_of(shown.front().mean), mean);
}

void chart::line(const std::vector<point>& points, std::string_view style) {
    std::string path;
    for (const point& each : points) {
        path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? 'M' : 'L', x_of(each.x), y_of(each.y));
    }
    drawn_ += fmt::format("<path class=\"line {}\" d=\"{}\"/>", style, path);
}

void chart::bar(double from, double to, double value, std::string_view style) {
    constexpr double gap = 0.6;
    const double begin = x_of(from);
    const double size = x_of(to) - begin;
    drawn_ +=
        fmt::format("<rect class=\"bar {}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\">"
                    "{}</rect>",
                    style, begin, y_of(value), std::max(size > 3 * gap ? size - gap : size, gap),
                    bottom - y_of(value), tip(x_, from, to, y_, value));
}

// ---- Marks

// Their labels stand beside the plot, where they cover nothing, and make room for each other.
std::string chart::y_marks() const {
    std::vector<double> baselines;
    for (const tick& each : marks_) {
        const double lowest = baselines.empty() ? 0 : baselines.back() + line_height;
        baselines.push_back(std::max(y_of(each.value) + 4, lowest));
    }
    double limit = bottom + 4;
    for (std::size_t i = baselines.size(); i-- > 0; limit -= line_height) {
        baselines[i] = std::min(baselines[i], limit);
    }
    std::string text;
    for (std::size_t i = 0; i < marks_.size(); ++i) {
        text += straight_line("mark", left_, y_of(marks_[i].value), 'H', right_);
        text += fmt::format("<text class=\"tick\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", right_ + 4,
                            baselines[i], escaped(marks_[i].label));
    }
    return text;
}

void chart::mark_x(double value, std::string_view label) {
    const double x = x_of(value);
    const double half = text_width(label) / 2;
    drawn_ += straight_line("mark", x, top - 2, 'V', bottom);
    drawn_ += tick_label(std::clamp(x, left_ + half, width - half), top - 5, "middle", label);
}

// ---- Axes

std::string chart::y_axis() const {
    std::string text = fmt::format("<text x=\"0\" y=\"11\">{}</text>", escaped(y_.title));
    for (const tick& each : y_.ticks) {
        const double y = y_of(each.value);
        text += straight_line("grid", left_, y, 'H', right_);
        text += tick_label(left_ - 5, y + 4, "end", each.label);
    }
    return text;
}

// Labels that have no room beside the one before are left out.
std::string chart::x_axis() const {
    std::string text = fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>",
                                   (left_ + right_) / 2, height - 5, escaped(x_.title));
    double taken = 0;
    for (const tick& each : x_.ticks) {
        const double x = x_of(each.value);
        text += straight_line("grid", x, top, 'V', bottom + 3);
        const double half = text_width(each.label) / 2;
        const double middle = std::min(x, width - half);
        if (middle - half >= taken) {
            taken = middle + half + 4;
            text += tick_label(middle, bottom + 17, "middle", each.label);
        }
    }
    text += straight_line("base", left_, bottom, 'H', right_);
    return text;
}

std::string chart::html(const caption& said, std::string_view id, std::string_view subject) const {
    return fmt::format(
        "<figure class=\"card\" data-chart=\"{name}\">\n"
        "<figcaption><strong>{title}</strong><span>{finding}</span></figcaption>\n"
        "<svg viewBox=\"0 0 {width} {height}\" role=\"img\" aria-labelledby=\"{id}-{name}-t {id}-{name}-d\">"
        "<title id=\"{id}-{name}-t\">{title}: {subject}</title><desc "
        "id=\"{id}-{name}-d\">{description}</desc>"
        "{drawing}</svg>\n{below}</figure>\n",
        fmt::arg("name", said.name), fmt::arg("title", escaped(said.title)),
        fmt::arg("finding", escaped(said.finding)), fmt::arg("width", width), fmt::arg("height", height),
        fmt::arg("id", id), fmt::arg("subject", escaped(subject)),
        fmt::arg("description", escaped(said.description.empty() ? said.finding : said.description)),
        fmt::arg("drawing", y_axis() + x_axis() + drawn_ + y_marks() + tips_), fmt::arg("below", said.below));
}

} // namespace handlepool::stress::page

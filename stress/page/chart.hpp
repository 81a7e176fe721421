// SPDX-License-Identifier: MIT
#pragma once

#include "axis.hpp"
#include "columns.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace handlepool::stress::page {

struct point {
    double x;
    double y;
};

// What is said of a chart.
struct caption {
    std::string_view name; // data-chart
    std::string title;
    std::string finding;       // a sentence
    std::string description{}; // for those who can't see the chart; the finding if it is empty
    std::string below{};       // HTML
};

// A chart as inline SVG, with axes and a grid. It is drawn for the width of a phone, where its letters have
// their natural size; a wide page puts several beside each other. Columns and bars show their values where
// the pointer is.
//
// Colours and dashes come from the style sheet: `style` is a class name.
class chart {
public:
    // `marks` are dashed lines at heights of the y axis.
    chart(axis x, axis y, std::vector<tick> marks = {});

    // The mean, filled down to the x axis, and the band from low to high. There is one column at least.
    void columns(const std::vector<column>& shown, std::string_view style);
    void line(const std::vector<point>& points, std::string_view style);
    void bar(double from, double to, double height, std::string_view style);

    void mark_x(double value, std::string_view label); // a dashed line from top to bottom

    // A figure of the result `subject`, whose anchor is `id`.
    std::string html(const caption& said, std::string_view id, std::string_view subject) const;

private:
    double x_of(double value) const;
    double y_of(double value) const;
    std::string y_axis() const;
    std::string x_axis() const;
    std::string y_marks() const;

    axis x_;
    axis y_;
    std::vector<tick> marks_;
    double left_; // of the plot, beside the labels
    double right_;
    std::string drawn_{};
    std::string tips_{}; // above all that is drawn
};

} // namespace handlepool::stress::page

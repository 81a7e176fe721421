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

// A chart as inline SVG, with axes and a grid. It is drawn for the width of a phone, where its letters have
// their natural size; a wide page puts several beside each other.
//
// Colours and dashes come from the style sheet: `style` is a class name.
class chart {
public:
    // `marks` are dashed lines at heights of the y axis.
    chart(axis x, axis y, std::vector<tick> marks = {});

    void area(const std::vector<column>& columns, std::string_view style); // from the x axis to the mean
    void band(const std::vector<column>& columns, std::string_view style); // from low to high
    void steps(const std::vector<column>& columns, std::string_view style);
    void line(const std::vector<point>& points, std::string_view style);
    void bar(double from, double to, double height, std::string_view style);

    void mark_x(double value, std::string_view label); // a dashed line from top to bottom

    // `id` is unique in the page. `title` and `description` are for those who can't see it.
    std::string svg(std::string_view id, std::string_view title, std::string_view description) const;

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
};

} // namespace handlepool::stress::page

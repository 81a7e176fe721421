#pragma once

#include <string>
#include <string_view>

namespace handlepool::stress::page {

// A chart with its caption: what it shows, and what it says.
struct figure {
    std::string_view name; // data-chart
    std::string title;
    std::string finding; // a sentence
    std::string svg;
    std::string below{}; // HTML
};

std::string to_html(const figure& shown);

} // namespace handlepool::stress::page

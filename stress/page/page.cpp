// SPDX-License-Identifier: MIT
#include "page.hpp"

#include "html.hpp"
#include "parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <vector>

namespace handlepool::stress::page {

namespace {

// For the tab and the list of tabs, where the verdict matters too.
std::string title(std::span<const result_file> files) {
    std::size_t failed = 0;
    for (const result_file& file : files) {
        const std::vector<result>& results = file.document.scenarios;
        failed += static_cast<std::size_t>(
            std::count_if(results.begin(), results.end(), [](const result& each) { return !each.passed(); }));
    }
    return failed == 0 ? "handlepool-stress: passed" : fmt::format("handlepool-stress: {} FAILED", failed);
}

} // namespace

std::string make_page(std::span<const result_file> files) {
    if (files.empty()) {
        throw std::runtime_error("a report needs one result file at least");
    }
    const bool single = files.size() == 1;
    std::string page =
        fmt::format("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                    "style-src 'unsafe-inline'\">\n<meta name=\"color-scheme\" content=\"light dark\">\n"
                    "<title>{}</title>\n<style>\n{}</style>\n</head>\n<body>\n<header id=\"top\">\n"
                    "<h1>Stress report <small>handlepool</small></h1>\n{}{}</header>\n<main>\n"
                    "<h2>Overview</h2>\n{}",
                    title(files), style_sheet(), verdict_and_totals(files),
                    single ? provenance(files.front()) : "", overview_table(files));
    for (std::size_t i = 0; i < files.size(); ++i) {
        if (single) {
            page += "<h2>Results</h2>\n";
        } else {
            page += fmt::format("<h2 id=\"f{}\">{}</h2>\n{}", i + 1, escaped(files[i].name),
                                provenance(files[i]));
        }
        const std::vector<result>& results = files[i].document.scenarios;
        for (std::size_t j = 0; j < results.size(); ++j) {
            page += result_section(results[j], anchor(i, j));
        }
    }
    page += "</main>\n<footer><a href=\"#top\">Back to the top</a></footer>\n</body>\n</html>\n";
    return page;
}

} // namespace handlepool::stress::page

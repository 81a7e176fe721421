// SPDX-License-Identifier: MIT
#include "table.hpp"

#include <fmt/core.h>

#include <cstdio>
#include <utility>

namespace handlepool::model {

table::table(std::vector<column> columns) : columns_(std::move(columns)) {
    std::vector<std::string> titles;
    std::string rule = "|";
    for (const column& each : columns_) {
        titles.push_back(each.title);
        rule += " --- |";
    }
    add(titles);
    fmt::print("{}\n", rule);
}

void table::add(const std::vector<std::string>& cells) const {
    std::string line = "|";
    for (std::size_t i = 0; i != cells.size(); ++i) {
        line += fmt::format(" {:<{}} |", cells[i], columns_.at(i).width);
    }
    fmt::print("{}\n", line);
    std::fflush(stdout);
}

} // namespace handlepool::model

#include "table.hpp"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <cstdio>
#include <stdexcept>
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

json_file::json_file(std::filesystem::path path) : path_(std::move(path)) {
    if (path_.empty()) {
        return;
    }
    out_.open(path_, std::ios::app); // what it holds now stays until there is something better
    if (!out_) {
        throw std::runtime_error(path_.string() + " can't be written");
    }
}

void json_file::write(const nlohmann::json& value) {
    if (path_.empty()) {
        return;
    }
    out_.close();
    out_.open(path_, std::ios::trunc);
    out_ << value.dump(2) << '\n';
    out_.close();
    if (!out_) {
        throw std::runtime_error(path_.string() + " can't be written");
    }
}

} // namespace handlepool::model

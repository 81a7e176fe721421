#include "table.hpp"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <cstdio>
#include <fstream>
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

void write_json(const std::filesystem::path& file, const nlohmann::json& value) {
    if (file.empty()) {
        return;
    }
    std::ofstream out(file);
    out << value.dump(2) << '\n';
    out.close();
    if (!out) {
        throw std::runtime_error(file.string() + " can't be written");
    }
}

} // namespace handlepool::model

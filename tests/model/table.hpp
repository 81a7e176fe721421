#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace handlepool::model {

/// Prints a table of Markdown, a row at a time.
class table {
public:
    struct column {
        std::string title;
        std::size_t width;
    };

    explicit table(std::vector<column> columns);
    void add(const std::vector<std::string>& cells) const;

private:
    std::vector<column> columns_;
};

/// A file of results; none when the path is empty. It is opened before the work and written behind it. Both
/// throw std::runtime_error when that fails.
class json_file {
public:
    explicit json_file(std::filesystem::path path);
    void write(const nlohmann::json& value);

private:
    std::filesystem::path path_;
    std::ofstream out_;
};

} // namespace handlepool::model

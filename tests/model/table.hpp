#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <filesystem>
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

/// Writes a file, unless the path is empty. Throws std::runtime_error when that fails.
void write_json(const std::filesystem::path& file, const nlohmann::json& value);

} // namespace handlepool::model

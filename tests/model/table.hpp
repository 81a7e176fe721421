// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
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

} // namespace handlepool::model

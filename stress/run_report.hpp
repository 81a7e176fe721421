#pragma once

#include "report.hpp"

#include <chrono>
#include <span>
#include <string>

namespace handlepool::stress {

struct result_document; // result.hpp

// One line of the table that `run all` prints as it goes on, and the line above it.
std::string table_head();
std::string table_row(const report& result);

// What follows the table: the sums, and what failed.
std::string summary_of(std::span<const report> results);

// A whole document: `command_line` is what the user has typed, at the time `started`.
result_document document_of(std::span<const report> results, const std::string& command_line,
                            std::chrono::system_clock::time_point started);

} // namespace handlepool::stress

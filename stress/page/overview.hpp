#pragma once

#include "result_file.hpp"

#include <cstddef>
#include <span>
#include <string>

namespace handlepool::stress::page {

// The anchor of a result in the page.
std::string anchor(std::size_t file, std::size_t position);

// What all results say together: the verdict, and what was done.
std::string verdict_and_totals(std::span<const result_file> files);

// Where the results of a file come from: command line, date, machine.
std::string provenance(const result_file& file);

// A row for each result.
std::string overview_table(std::span<const result_file> files);

} // namespace handlepool::stress::page

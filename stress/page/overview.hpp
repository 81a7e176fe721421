#pragma once

#include "result.hpp"

#include <cstddef>
#include <span>
#include <string>

namespace handlepool::stress::page {

// The anchor of a result in the page.
std::string anchor(std::size_t document, std::size_t position);

// What all results say together: the verdict, and what was done.
std::string verdict_and_totals(std::span<const result_document> documents);

// Where the results of a file come from: command line, date, machine.
std::string provenance(const result_document& document);

// A row for each result.
std::string overview_table(std::span<const result_document> documents);

} // namespace handlepool::stress::page

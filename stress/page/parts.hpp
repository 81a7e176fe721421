// SPDX-License-Identifier: MIT
#pragma once

#include "result_file.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

// What a page is made of.
namespace handlepool::stress::page {

// The style sheet: light and dark, phone and desk, screen and paper.
std::string_view style_sheet();

// ---- The overview

// The anchor of a result in the page.
std::string anchor(std::size_t file, std::size_t position);

// What all results say together: the verdict, and what was done.
std::string verdict_and_totals(std::span<const result_file> files);

// Where the results of a file come from: command line, date, machine.
std::string provenance(const result_file& file);

// A row for each result.
std::string overview_table(std::span<const result_file> files);

// "passed" or the number of violations, with a sign and a colour.
std::string verdict_badge(std::uint64_t violations);

// ---- One result; `id` is its anchor, unique in the page

// All about it: verdict, violations, figures, charts.
std::string result_section(const result& shown, std::string_view id);

// Its charts, each a figure with its data-chart; empty where there is no data.
std::string throughput_figure(const result& shown, std::string_view id);
std::string alive_figure(const result& shown, std::string_view id);
std::string latency_figure(const result& shown, std::string_view id);
std::string compaction_figure(const result& shown, std::string_view id);
std::string reuse_figure(const result& shown, std::string_view id);

} // namespace handlepool::stress::page

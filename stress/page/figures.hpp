#pragma once

#include "result.hpp"

#include <string>
#include <string_view>

namespace handlepool::stress::page {

// The charts of a result, each a figure with its data-chart; empty where there is no data. `id` is unique in
// the page.
std::string throughput_figure(const result& shown, std::string_view id);
std::string alive_figure(const result& shown, std::string_view id);
std::string latency_figure(const result& shown, std::string_view id);
std::string compaction_figure(const result& shown, std::string_view id);
std::string reuse_figure(const result& shown, std::string_view id);

} // namespace handlepool::stress::page

#pragma once

#include "result.hpp"

#include <string>
#include <string_view>

namespace handlepool::stress::page {

// "passed" or the number of violations, with a sign and a colour.
std::string verdict_badge(std::uint64_t violations);

// All about one result: verdict, violations, figures, charts. `id` is its anchor.
std::string result_section(const result& shown, std::string_view id);

} // namespace handlepool::stress::page

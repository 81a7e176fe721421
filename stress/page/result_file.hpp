#pragma once

#include "result.hpp"

#include <string>
#include <string_view>

namespace handlepool::stress::page {

// Reads what `run`, `replay` and `churn` write with --json. Keys that are not known are passed over. Throws
// std::runtime_error, whose message names the file and the place in it, if a value has a wrong type or
// contradicts another.
result_document read_result_file(const std::string& path);

// The same from a text; `file` is its name in messages and on the page.
result_document parse_result(std::string file, std::string_view text);

} // namespace handlepool::stress::page

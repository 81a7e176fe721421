// SPDX-License-Identifier: MIT
#pragma once

#include "results/result.hpp"

#include <string>
#include <string_view>

namespace handlepool::stress::page {

struct result_file {
    std::string name; // as it was given
    result_document document{};
};

// Reads what `run`, `replay` and `churn` write with --json. Keys that are not known are passed over. Throws
// std::runtime_error, whose message names the file and the place in it, if a value has a wrong type or
// contradicts another.
result_file read_result_file(const std::string& path);

// The same from a text; `name` is that of the file in messages and on the page.
result_file parse_result_file(const std::string& name, std::string_view text);

} // namespace handlepool::stress::page

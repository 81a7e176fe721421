// SPDX-License-Identifier: MIT
#include "command_line.hpp"

#include "results/result.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <system_error>

namespace handlepool::stress {

void print(const std::string& text) {
    fmt::print("{}", text);
    if (std::fflush(stdout) != 0) {
        throw std::system_error(errno, std::generic_category(), "the report cannot be written");
    }
}

outcome outcome_of(report result, const command_line& line) {
    result.again = line.typed;
    return {result.passed() ? 0 : exit_violation, to_json(result_of(result)), to_text(result)};
}

} // namespace handlepool::stress

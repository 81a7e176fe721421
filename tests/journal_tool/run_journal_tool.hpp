// SPDX-License-Identifier: MIT
#pragma once

#include <support/programs/run_program.hpp>
#include <tests/support/paths.hpp>

#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace handlepool::test {

/// What a program has printed, and its exit code.
struct printed {
    int status;
    std::string output;
    std::string errors = "";

    friend bool operator==(const printed&, const printed&) = default;
    friend std::ostream& operator<<(std::ostream& out, const printed& result) {
        return out << result.status << '\n' << result.output << "--\n" << result.errors;
    }
};

inline printed run_journal_tool(std::vector<std::string> line) {
    line.insert(line.begin(), support::paths::journal_program);
    const support::run_result result = support::run_program(std::move(line));
    return {result.status, result.output, result.errors};
}

} // namespace handlepool::test

// SPDX-License-Identifier: MIT
#include "../types_of_program.hpp"

namespace handlepool::journal_tool {

std::vector<type_of_program> types_of_program(const std::string&, const std::vector<std::string>&) {
    throw type_unknown("--program: the debug information of programs is read on Linux only");
}

} // namespace handlepool::journal_tool

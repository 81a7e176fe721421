// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/snapshots/compare_snapshots.hpp>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace handlepool::journal_tool {

// A type that can't be read from a program; the message says why.
class type_unknown : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

// A type as a program has it.
struct type_of_program {
    std::uint64_t size = 0; // bytes
    std::vector<named_member> members{};
};

// The types of these names, as "game::ship", by the debug information in the file of a program. Throws
// type_unknown.
std::vector<type_of_program> types_of_program(const std::string& program,
                                              const std::vector<std::string>& names);

} // namespace handlepool::journal_tool

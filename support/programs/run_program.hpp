// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

namespace handlepool::support {

/// What a program left behind.
struct run_result {
    int status = -1; ///< its exit status; -1 if a signal killed it
    std::string output;
    std::string errors; ///< on a terminal, as that has shown them
};

enum class errors_to { file, terminal };

/// The path of a program, which is searched for in PATH unless its name has a slash. Throws std::system_error
/// if it is not there.
std::string find_program(const std::string& name);

/// Runs a program, searched for in PATH, to its end; it has nothing to read. `columns` are those of
/// the terminal, which does not know its width if they are 0. Throws std::system_error if that can't be done.
run_result run_program(const std::vector<std::string>& command, errors_to errors = errors_to::file,
                       unsigned short columns = 0);

/// Why no terminal can be opened here, or nothing if one can.
std::string lack_of_terminals();

} // namespace handlepool::support

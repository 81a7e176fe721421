// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

/// What the controls have in common: a program with one planted fault, and the same program without it.
namespace handlepool::control {

/// Is the program to run with its fault? Its only argument is `planted` or `correct`.
inline bool is_planted(int argc, char** argv) {
    return argc != 2 || std::string_view(argv[1]) != "correct";
}

} // namespace handlepool::control

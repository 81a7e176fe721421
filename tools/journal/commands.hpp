// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace handlepool::journal_tool {

inline constexpr int exit_damaged = 1;
inline constexpr int exit_different = 1;
inline constexpr int exit_error = 2;

// What was typed.
struct command_line {
    int (*run)(const command_line& line) = nullptr; // the subcommand; returns the exit code
    std::vector<std::string> files{};
    bool json = false;
    bool parts = false;      // of each entry, too
    bool allow_torn = false; // as that of a journal which is written to
    std::uint64_t frame = 0; // the last one to stay, or to be replayed
    bool frame_is_given = false;
    std::string output{}; // empty: none
    bool in_place = false;
    std::string handle{};             // whose lives are told; empty: all
    std::string snapshot{};           // that the first journal goes on from
    std::string part{};               // that has the deltas; empty: the only one
    std::size_t most = 20;            // differences to tell of each part of a world
    std::string program{};            // that has the types
    std::vector<std::string> types{}; // as "ships=game::ship"
};

int list(const command_line& line);
int verify(const command_line& line);
int cut(const command_line& line);
int replay(const command_line& line);
int diff(const command_line& line);
int lives(const command_line& line);

} // namespace handlepool::journal_tool

// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>

/// What programs ask of the system beyond the standard library; each platform has a file of its own for it.
namespace handlepool::support {

/// The system's number of this process.
int process_id() noexcept;

/// The system, its version and the machine, or "unknown".
std::string system_name();

/// Is the standard error a terminal that knows ANSI's sequences?
bool errors_go_to_a_terminal() noexcept;
/// The columns of that terminal, if it knows them.
std::optional<std::size_t> columns_of_errors() noexcept;

/// At the beginning of a program: what it opens later must not become its standard input, output or error,
/// because that was closed. Then there is something that refuses what is read from or written to it.
void keep_standard_streams() noexcept;

/// Opens a file for new bytes, as they are, not for the programs that this one starts. Null, and errno, if
/// that can't be done.
std::FILE* open_to_write(const std::filesystem::path& path) noexcept;
/// Waits until the bytes written so far have reached the disk. False, and errno, if they can't.
bool write_through(std::FILE* file) noexcept;

/// From now on, a file that would grow beyond the process's limit is an error of who writes to it. Without
/// this it is the end of the process. Programs that it starts inherit that, unless `restore_..` comes before.
void survive_file_size_limit() noexcept;
void restore_file_size_limit() noexcept;

} // namespace handlepool::support

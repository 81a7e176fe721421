// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

/// What each system knows of threads and code in its own way.
namespace handlepool::detail {

/// Writes the name of the calling thread, cut to what fits; nothing where it has none.
void copy_thread_name(std::span<char> to) noexcept;

/// Writes the addresses behind the calls that led to the function whose frame this is, from its caller on,
/// and returns how many there are, at least one: as far as each function on the way keeps a frame pointer.
std::size_t find_callers(const void* frame, std::uintptr_t caller, std::span<std::uint64_t> to) noexcept;

/// The code before an address as the program's own tables know it: "explode() (game+0x1234)", or only the
/// module and where it is there. Throws std::bad_alloc.
std::string name_by_tables(std::uintptr_t address);

} // namespace handlepool::detail

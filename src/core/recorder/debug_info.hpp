// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace handlepool::detail {

/// The code before an address as the program's debug information knows it, "explode() at ship.cpp:88": of
/// functions that were inlined there, the innermost one that is none of the library. Empty where there is no
/// such information, or nobody to read it. Of this process for 0, else of the one with that number, with the
/// modules that it has when it is asked for first. Takes a lock. Throws std::bad_alloc.
HANDLEPOOL_EXPORT std::string name_by_debug_info(std::uintptr_t address, int process = 0);

/// A function's name without what it takes and returns: "void game::explode(int)" becomes "game::explode()".
/// Throws std::bad_alloc.
std::string short_function_name(std::string_view function);

} // namespace handlepool::detail

// SPDX-License-Identifier: MIT
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <system_error>
#include <utility>

namespace handlepool::support {

/// Writes a message to the standard error. What that refuses, as where it is closed or its disk is full, is
/// nobody's loss but the message's: a program goes on, and its exit code stays what it is.
template <class... Arguments>
void tell(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
    try {
        fmt::print(stderr, text, std::forward<Arguments>(arguments)...);
    } catch (const std::system_error&) { // there is nobody left to tell
    }
}

} // namespace handlepool::support

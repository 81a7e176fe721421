// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/config.hpp>

/// How errors are reported: as exceptions, or in programs built without them by ending the program.
namespace handlepool {

/// Called with the reason why the program ends; need not return.
using failure_handler = void (*)(const char* message) noexcept;

/// From here on `handler` is called before the program is ended by a violated contract, in a checked build,
/// or by an error, in a program without exceptions. Null: the message goes to the standard error. Returns the
/// previous handler. Any thread, at any time; wait-free.
HANDLEPOOL_EXPORT failure_handler set_failure_handler(failure_handler handler) noexcept;

} // namespace handlepool

#pragma once

#include <handlepool/config.hpp>

#include <utility>

/// How errors are reported: as exceptions, or in programs built without them by ending the program.
namespace handlepool {

/// Is told why the program ends, and need not return.
using failure_handler = void (*)(const char* message) noexcept;

/// From here on `handler` is called before the program is ended by a violated contract, in a checked build,
/// or by an error, in a program without exceptions. Null: the message goes to the standard error. Returns the
/// handler before. Any thread, at any time; wait-free.
HANDLEPOOL_EXPORT failure_handler set_failure_handler(failure_handler handler) noexcept;

/// Calls the handler, and aborts if that returns.
[[noreturn]] HANDLEPOOL_EXPORT void end_program(const char* message) noexcept;

/// Throws the error. In a program built without exceptions, ends the program with its message.
template <class Error>
[[noreturn]] void raise(Error&& error) {
#ifdef __cpp_exceptions
    throw std::forward<Error>(error);
#else
    end_program(error.what());
#endif
}

} // namespace handlepool

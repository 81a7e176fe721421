#pragma once

#include <handlepool/config.hpp>

#include <exception>
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

#ifdef __cpp_exceptions

/// Throws the error. In a program built without exceptions, ends the program with its message.
template <class Error>
[[noreturn]] void raise(Error&& error) {
    throw std::forward<Error>(error);
}

/// Calls `action`, and returns what it threw; null if it returned. In a program built without exceptions,
/// always null.
template <class Action>
std::exception_ptr thrown_by(Action&& action) noexcept {
    try {
        std::forward<Action>(action)();
    } catch (...) {
        return std::current_exception();
    }
    return nullptr;
}

#else

/// Like end_program. Only a library built without exceptions has it, so that a program without them does not
/// link with one that throws.
[[noreturn]] HANDLEPOOL_EXPORT void end_program_without_exceptions(const char* message) noexcept;

// Of its own, so that no linker takes these functions for the others.
inline namespace without_exceptions {

template <class Error>
[[noreturn]] void raise(Error&& error) {
    end_program_without_exceptions(error.what());
}

template <class Action>
std::exception_ptr thrown_by(Action&& action) noexcept {
    std::forward<Action>(action)();
    return nullptr;
}

} // namespace without_exceptions

#endif

} // namespace handlepool

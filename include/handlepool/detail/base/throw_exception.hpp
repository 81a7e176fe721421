// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/detail/base/agreement.hpp>
#include <handlepool/detail/base/config.hpp>

#include <exception>
#include <utility>

namespace handlepool::detail {

/// Calls the handler, and aborts if that returns.
[[noreturn]] HANDLEPOOL_EXPORT void end_program(const char* message) noexcept;

#ifdef __cpp_exceptions

/// Throws the error. In a program built without exceptions, ends the program with its message.
template <class Error>
[[noreturn]] void throw_exception(Error&& error) {
    throw std::forward<Error>(error);
}

/// Calls `action`, and returns what it threw; null if it returned. In a program built without exceptions,
/// always null.
template <class Action>
std::exception_ptr capture_exception(Action&& action) noexcept {
    try {
        std::forward<Action>(action)();
    } catch (...) {
        return std::current_exception();
    }
    return nullptr;
}

#else

// In an inline namespace, so that the linker can't merge them with the versions that throw.
inline namespace without_exceptions {

template <class Error>
[[noreturn]] void throw_exception(Error&& error) {
    end_program(error.what());
}

template <class Action>
std::exception_ptr capture_exception(Action&& action) noexcept {
    std::forward<Action>(action)();
    return nullptr;
}

} // namespace without_exceptions

#endif

} // namespace handlepool::detail

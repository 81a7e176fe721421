// SPDX-License-Identifier: MIT
#pragma once

#include <handlepool/handlepool.h>

#include <stdexcept>

namespace handlepool::c {

/// A callback has returned false.
class abandoned : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// Keeps the message for handlepool_last_error() of this thread, and returns the error.
handlepool_error fail(handlepool_error error, const char* message) noexcept;

/// Fails because of a pointer that must not be NULL.
handlepool_error fail_null(const char* function, const char* argument) noexcept;

/// Fails because of the exception that is being handled.
handlepool_error fail_by_exception() noexcept;

/// Calls `action`; what it throws becomes an error.
template <class Action>
handlepool_error error_of(Action&& action) noexcept {
    try {
        action();
        return HANDLEPOOL_OK;
    } catch (...) {
        return fail_by_exception();
    }
}

/// Returns whether the pointer is NULL, and then fails.
inline bool missing(const void* pointer, const char* function, const char* argument) noexcept {
    return pointer == nullptr && fail_null(function, argument) != HANDLEPOOL_OK;
}

} // namespace handlepool::c

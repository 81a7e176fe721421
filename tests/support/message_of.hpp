// SPDX-License-Identifier: MIT
#pragma once

#include <exception>
#include <string>

namespace handlepool::test {

/// What the `Exception` says that `action` throws; nothing if it throws none.
template <class Exception = std::exception, class Action>
std::string message_of(Action action) {
    try {
        action();
    } catch (const Exception& thrown) {
        return thrown.what();
    }
    return "";
}

} // namespace handlepool::test

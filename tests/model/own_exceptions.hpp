// SPDX-License-Identifier: MIT
#pragma once

#include <cxxabi.h>

#include <cstring>

namespace handlepool::model {

/// Keeps the exceptions that the calling fiber is handling: the language has one list of them for each
/// thread, and the checker's fibers share a thread.
class own_exceptions {
public:
    own_exceptions() noexcept { std::memcpy(saved_, abi::__cxa_get_globals(), sizeof saved_); }
    ~own_exceptions() { std::memcpy(abi::__cxa_get_globals(), saved_, sizeof saved_); }

    own_exceptions(const own_exceptions&) = delete;
    own_exceptions& operator=(const own_exceptions&) = delete;

    static void forget() noexcept { std::memset(abi::__cxa_get_globals(), 0, 2 * sizeof(void*)); }

private:
    void* saved_[2]; // the list, and the count of exceptions in flight
};

} // namespace handlepool::model

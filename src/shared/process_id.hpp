// SPDX-License-Identifier: MIT
#pragma once

#if defined(_WIN32)
#include <process.h>
#else
#include <unistd.h>
#endif

namespace handlepool {

/// The system's number of this process.
inline int process_id() noexcept {
#if defined(_WIN32)
    return _getpid();
#else
    return getpid();
#endif
}

} // namespace handlepool

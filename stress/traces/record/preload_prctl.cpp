// SPDX-License-Identifier: MIT

// A thread may forbid itself the processor's counter, by prctl() alone or with system calls. Then the precise
// clock, which reads the counter, would end the program with a signal.

#include "preload_log.hpp"

#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdarg>

// NOLINTNEXTLINE(cert-dcl50-cpp): that is its declaration
HANDLEPOOL_INTERPOSED int prctl(int option, ...) {
    // As libc does: those that were not passed are what they are, and nobody looks at them.
    std::va_list rest;
    va_start(rest, option);
    const auto first = va_arg(rest, unsigned long);
    const auto second = va_arg(rest, unsigned long);
    const auto third = va_arg(rest, unsigned long);
    const auto fourth = va_arg(rest, unsigned long);
    va_end(rest);
    const auto result = static_cast<int>(::syscall(SYS_prctl, option, first, second, third, fourth));
    if (result == 0 && option == PR_SET_SECCOMP && first == SECCOMP_MODE_STRICT) {
        handlepool::stress::preload::use_precise_clock(false);
    } else if (result == 0 && option == PR_SET_TSC) {
        handlepool::stress::preload::use_precise_clock(first == PR_TSC_ENABLE);
    }
    return result;
}

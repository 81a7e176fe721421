// SPDX-License-Identifier: MIT

// A thread may forbid itself the processor's counter, alone or with system calls. Then the precise clock,
// which reads the counter, would end the program with a signal. Of the two calls that do so, libc has a
// function for one; the other goes through syscall(), as the first may too.

#include "preload_log.hpp"
#include "preload_next.hpp"

#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdarg>

namespace {

using handlepool::stress::preload::forgo_counter;
using handlepool::stress::preload::next;

std::atomic<int (*)(int, ...)> next_prctl{nullptr};
std::atomic<long (*)(long, ...)> next_syscall{nullptr};

[[gnu::constructor]] void look_up_both() {
    next(next_prctl, "prctl");
    next(next_syscall, "syscall");
}

// What prctl() has done with these arguments.
void look_at_prctl(long option, long argument) {
    if ((option == PR_SET_SECCOMP && argument == SECCOMP_MODE_STRICT) ||
        (option == PR_SET_TSC && argument != PR_TSC_ENABLE)) {
        forgo_counter();
    }
}

} // namespace

// As libc does: arguments that were not passed are what they are, and nobody looks at them.
// NOLINTNEXTLINE(cert-dcl50-cpp): that is its declaration
HANDLEPOOL_INTERPOSED int prctl(int option, ...) {
    std::va_list rest;
    va_start(rest, option);
    const long first = va_arg(rest, long);
    const long second = va_arg(rest, long);
    const long third = va_arg(rest, long);
    const long fourth = va_arg(rest, long);
    va_end(rest);
    const int result = next(next_prctl, "prctl")(option, first, second, third, fourth);
    if (result == 0) {
        look_at_prctl(option, first);
    }
    return result;
}

// NOLINTNEXTLINE(cert-dcl50-cpp): that is its declaration
HANDLEPOOL_INTERPOSED long syscall(long number, ...) noexcept {
    std::va_list rest;
    va_start(rest, number);
    const long first = va_arg(rest, long);
    const long second = va_arg(rest, long);
    const long third = va_arg(rest, long);
    const long fourth = va_arg(rest, long);
    const long fifth = va_arg(rest, long);
    const long sixth = va_arg(rest, long);
    va_end(rest);
    const long result = next(next_syscall, "syscall")(number, first, second, third, fourth, fifth, sixth);
    if (result == 0 && number == SYS_prctl) {
        look_at_prctl(static_cast<int>(first), second);
    } else if (result == 0 && number == SYS_seccomp &&
               static_cast<unsigned>(first) == SECCOMP_SET_MODE_STRICT) {
        forgo_counter();
    }
    return result;
}

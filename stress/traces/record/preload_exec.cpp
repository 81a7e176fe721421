// SPDX-License-Identifier: MIT

// A program that replaces itself, as a version manager's shim does, ends its recording: the functions that do
// so leave the name of the other program in the log, and pass the call on.

#include "preload_log.hpp"
#include "preload_next.hpp"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstddef>

namespace {

using handlepool::stress::preload::next;
using handlepool::stress::preload::program_was_not_replaced;
using handlepool::stress::preload::program_will_be_replaced;

struct {
    std::atomic<int (*)(const char*, char* const*, char* const*)> execve;
    std::atomic<int (*)(const char*, char* const*, char* const*)> execvpe;
    std::atomic<int (*)(int, char* const*, char* const*)> fexecve;
    std::atomic<int (*)(int, const char*, char* const*, char* const*, int)> execveat;
} behind;

[[gnu::constructor]] void look_up_all() {
    next(behind.execve, "execve");
    next(behind.execvpe, "execvpe");
    next(behind.fexecve, "fexecve");
    next(behind.execveat, "execveat");
}

// A pointer of the program, which may be null: the functions behind make an error of that. Their declarations
// say that it isn't, and compilers would believe it.
template <class Type>
Type* given(Type* pointer) {
    asm("" : "+r"(pointer));
    return pointer;
}

// Only a call that fails comes back. A libc may lack a function.
template <class Function, class... Arguments>
int replace(const char* file, Function* function, Arguments... arguments) {
    if (function == nullptr) {
        errno = ENOSYS;
        return -1;
    }
    program_will_be_replaced(given(file));
    const int result = function(arguments...);
    program_was_not_replaced();
    return result;
}

int replace_by(const char* path, char* const* arguments, char* const* variables) {
    return replace(path, next(behind.execve, "execve"), path, arguments, variables);
}

int replace_from_path(const char* file, char* const* arguments, char* const* variables) {
    return replace(file, next(behind.execvpe, "execvpe"), file, arguments, variables);
}

const char* first_of(char* const* arguments) {
    char* const* const list = given(arguments);
    return list == nullptr ? nullptr : *list;
}

// Those after the first one.
std::size_t count_arguments(const char* first, va_list list) {
    std::size_t count = 0;
    while (given(first) != nullptr && va_arg(list, const char*) != nullptr) {
        ++count;
    }
    return count;
}

} // namespace

HANDLEPOOL_INTERPOSED int execve(const char* path, char* const* arguments, char* const* variables) noexcept {
    return replace_by(path, arguments, variables);
}

HANDLEPOOL_INTERPOSED int execv(const char* path, char* const* arguments) noexcept {
    return replace_by(path, arguments, environ);
}

HANDLEPOOL_INTERPOSED int execvp(const char* file, char* const* arguments) noexcept {
    return replace_from_path(file, arguments, environ);
}

HANDLEPOOL_INTERPOSED int execvpe(const char* file, char* const* arguments, char* const* variables) noexcept {
    return replace_from_path(file, arguments, variables);
}

HANDLEPOOL_INTERPOSED int fexecve(int file, char* const* arguments, char* const* variables) noexcept {
    return replace(first_of(arguments), next(behind.fexecve, "fexecve"), file, arguments, variables);
}

HANDLEPOOL_INTERPOSED int execveat(int place, const char* path, char* const* arguments,
                                   char* const* variables, int flags) noexcept {
    const char* const name = given(path);
    return replace(name != nullptr && *name == '\0' ? first_of(arguments) : name,
                   next(behind.execveat, "execveat"), place, path, arguments, variables, flags);
}

// The arguments of a call as a list on its stack, where libc puts them too: memory of the heap would be none
// of the program's. `how` replaces the program, `variables` may take the argument after the null.
#define HANDLEPOOL_EXEC_LIST(how, file, first, variables)                                                    \
    va_list list;                                                                                            \
    va_start(list, first);                                                                                   \
    const std::size_t count = count_arguments(first, list);                                                  \
    va_end(list);                                                                                            \
    auto** arguments = static_cast<char**>(__builtin_alloca((count + 2) * sizeof(char*)));                   \
    va_start(list, first);                                                                                   \
    arguments[0] = const_cast<char*>(first);                                                                 \
    for (std::size_t i = 1; arguments[i - 1] != nullptr; ++i) {                                              \
        arguments[i] = va_arg(list, char*);                                                                  \
    }                                                                                                        \
    char* const* const environment = variables;                                                              \
    va_end(list);                                                                                            \
    return how(file, arguments, environment)

HANDLEPOOL_INTERPOSED int execl(const char* path, const char* first, ...) noexcept {
    HANDLEPOOL_EXEC_LIST(replace_by, path, first, environ);
}

HANDLEPOOL_INTERPOSED int execlp(const char* file, const char* first, ...) noexcept {
    HANDLEPOOL_EXEC_LIST(replace_from_path, file, first, environ);
}

HANDLEPOOL_INTERPOSED int execle(const char* path, const char* first, ...) noexcept {
    HANDLEPOOL_EXEC_LIST(replace_by, path, first, va_arg(list, char* const*));
}
